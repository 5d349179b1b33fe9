/* paddle_optimizer.h: optimizers for trainers and parameter servers in any language, one object per parameter. */
#ifndef PADDLE_OPTIMIZER_H_
#define PADDLE_OPTIMIZER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A serialized OptimizerConfig (optimizer.proto) configures an object. The object owns a copy of the parameter and the
   state of its optimizer.

   Functions that return int return PADDLE_OPTIMIZER_OK or an error status; after an error nothing has changed, and
   paddle_optimizer_last_error() returns a message. No call ends the process or throws an exception. Objects are
   independent of each other; if two threads call functions for one object at the same time, one call fails. Calls with
   a released object or an invalid pointer fail too. Sizes are in bytes. */

#define PADDLE_OPTIMIZER_OK 0
#define PADDLE_OPTIMIZER_ERROR (-1)      /* an argument, a configuration or a state is wrong */
#define PADDLE_OPTIMIZER_BUSY (-2)       /* another thread is in a call for this object */
#define PADDLE_OPTIMIZER_NOT_FINITE (-3) /* the gradient is not finite and nan_policy is Refuse */
#define PADDLE_OPTIMIZER_NO_MEMORY (-4)

/* Version of the interface. Within a version functions are added, never changed. */
#define PADDLE_OPTIMIZER_VERSION 1

/* The fixed underlying type makes any number valid in C++ too, so that the library can reject wrong ones (it is
   compiled as C++17). */
#if defined(__cplusplus) && __cplusplus >= 201103L
enum paddle_element_type : int {
#else
typedef enum {
#endif
  PADDLE_ELEMENT_TYPE_INT32 = 0,
  PADDLE_ELEMENT_TYPE_UINT32 = 1,
  PADDLE_ELEMENT_TYPE_INT64 = 2,
  PADDLE_ELEMENT_TYPE_UINT64 = 3,
  PADDLE_ELEMENT_TYPE_FLOAT32 = 4,
  PADDLE_ELEMENT_TYPE_FLOAT64 = 5
#if defined(__cplusplus) && __cplusplus >= 201103L
};
#else
} paddle_element_type;
#endif

typedef struct paddle_optimizer paddle_optimizer;
typedef struct paddle_snapshot paddle_snapshot;

/* Creates an object. Returns NULL on error. Only FLOAT32 and FLOAT64 are supported. `parameter` is copied and needs no
   alignment; it may be NULL if it has 0 bytes, or if a state is given, which replaces it. `state`: a result of
   paddle_optimizer_get_state for the same optimizer, averages, type and size; NULL: initial state. Hyperparameters
   always come from the configuration. */
paddle_optimizer* paddle_create_optimizer(const void* config_proto, size_t config_proto_len, paddle_element_type type,
                                          const void* parameter, size_t num_bytes, const void* state, size_t state_len);

/* An object with a state and the changes to it, as paddle_optimizer_snapshot_changes gave them. Returns NULL on error, also
   for changes to another state. */
paddle_optimizer* paddle_restore_optimizer(const void* config_proto, size_t config_proto_len, paddle_element_type type,
                                           size_t num_bytes, const void* state, size_t state_len, const void* changes,
                                           size_t changes_len);

/* Frees the object and invalidates pointers borrowed from it. NULL is allowed; a second release is an error. */
int paddle_release_optimizer(paddle_optimizer* o);

/* One step with a dense gradient of the parameter's type and size, aligned to its elements. It must not overlap the
   parameter. */
int paddle_update_parameter(paddle_optimizer* o, paddle_element_type type, const void* gradient, size_t num_bytes);

/* One step with a gradient for some rows of a table: gradient row i is for table row rows[i]. The gradients of a row
   that occurs more than once are summed. The cost is proportional to the number of these rows (row_policy Lazy). A call
   without rows counts as an update. */
int paddle_update_parameter_rows(paddle_optimizer* o, paddle_element_type type, const int64_t* rows, size_t num_rows,
                                 const void* gradient, size_t num_bytes);

/* parameter += scale delta, for a client that runs the optimizer itself. Counts as an update for averages and learning
   rates. */
int paddle_apply_delta(paddle_optimizer* o, paddle_element_type type, const void* delta, size_t num_bytes,
                       double scale);

/* The parameter, borrowed: the address is constant and valid until the release. The memory reflects every update; this
   call also applies pending decay of rows that are updated lazily. num_bytes may be NULL. Returns NULL only on error: a
   parameter of 0 bytes has an address too. */
const void* paddle_optimizer_param(const paddle_optimizer* o, size_t* num_bytes);

/* Copies some rows of the table, with pending decay applied. */
int paddle_optimizer_get_rows(const paddle_optimizer* o, paddle_element_type type, const int64_t* rows, size_t num_rows,
                              void* values, size_t num_bytes);

/* Serializes the complete state, exact to the bit, for paddle_create_optimizer. Free it with
   paddle_optimizer_free_state. */
int paddle_optimizer_get_state(const paddle_optimizer* o, const void** state, size_t* state_len);
int paddle_optimizer_free_state(const void* state); /* NULL is allowed; a second call is an error */

/* The state of this moment, to be read in pieces while other threads update the object: an update first copies what it
   changes and what is not read yet. state_len: the bytes of the state, which are those of paddle_optimizer_get_state. An
   object has one snapshot at a time; release it with paddle_release_snapshot. It may outlive the object. */
int paddle_optimizer_snapshot(const paddle_optimizer* o, paddle_snapshot** snapshot, size_t* state_len);
/* Like paddle_optimizer_snapshot, but only what has changed since the last call of that: the rows of a table that were
   updated, with all that the state has for them. *snapshot is NULL if everything may have changed: after a dense update, or
   if there was no such call. The size grows with the number of these rows, and one bit for each row of the table. */
int paddle_optimizer_snapshot_changes(const paddle_optimizer* o, paddle_snapshot** snapshot, size_t* changes_len);
/* Copies the next `size` bytes of the state; an error if fewer are left. One thread reads a snapshot. */
int paddle_snapshot_read(paddle_snapshot* snapshot, void* to, size_t size);
int paddle_release_snapshot(paddle_snapshot* snapshot); /* NULL is allowed; a second call is an error */

/* Overrides the policy's rate for all following updates; at least 0. It is part of the state. */
int paddle_optimizer_set_learning_rate(paddle_optimizer* o, double learning_rate);
/* The rate of the last update; before the first one, the policy's rate for 0 updates. */
int paddle_optimizer_get_learning_rate(const paddle_optimizer* o, double* learning_rate);
/* For the policy PassManual: sets the pass of the following updates; initially 0. */
int paddle_optimizer_set_pass(paddle_optimizer* o, int64_t pass);
/* The numbers of updates done, and skipped because a gradient was not finite (nan_policy Skip). Either pointer may be
   NULL. */
int paddle_optimizer_get_updates(const paddle_optimizer* o, uint64_t* updates, uint64_t* skipped);

/* Copies one of the averages that the configuration lists, `which` counted from 0; before an average has its first
   sample, copies the parameter. */
int paddle_optimizer_average(const paddle_optimizer* o, size_t which, paddle_element_type type, void* average,
                             size_t num_bytes);
/* The same of num_bytes from element `first` on: whole rows of a table that is updated by rows. */
int paddle_optimizer_average_part(const paddle_optimizer* o, size_t which, size_t first, paddle_element_type type,
                                  void* average, size_t num_bytes);

/* The message of the last failed call of this thread, or "". Valid until the thread's next call. */
const char* paddle_optimizer_last_error(void);
int paddle_optimizer_last_status(void); /* status of that call, or OK; for functions that return pointers */
int paddle_optimizer_version(void); /* PADDLE_OPTIMIZER_VERSION when the library was compiled */
/* The instruction set that it uses on this machine: "v4" (AVX-512), "v3" (AVX2), "v2" or "baseline". */
const char* paddle_optimizer_processor_level(void);

#ifdef __cplusplus
}
#endif
#endif /* PADDLE_OPTIMIZER_H_ */
