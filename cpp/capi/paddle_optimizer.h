/* paddle_optimizer.h: optimizers for trainers and parameter servers in any language, one object per parameter. */
#ifndef PADDLE_OPTIMIZER_H_
#define PADDLE_OPTIMIZER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an object does is said by the bytes of an OptimizerConfig (optimizer.proto). The object owns a copy of the
   parameter and everything that its optimizer keeps.

   Functions that return int return PADDLE_OPTIMIZER_OK or one of the statuses below; then nothing has changed and
   paddle_optimizer_last_error() says what was wrong. No call ends the process or throws an exception. Objects are
   independent of each other; of two calls for one object at the same time one is refused. An object that was released,
   or never was one, is refused too. Sizes are in bytes. */

#define PADDLE_OPTIMIZER_OK 0
#define PADDLE_OPTIMIZER_ERROR (-1)      /* an argument, a configuration or a state is wrong */
#define PADDLE_OPTIMIZER_BUSY (-2)       /* another thread is in a call for this object */
#define PADDLE_OPTIMIZER_NOT_FINITE (-3) /* the gradient is not finite and nan_policy is Refuse */
#define PADDLE_OPTIMIZER_NO_MEMORY (-4)

/* Of the interface: 1. Functions are added, never changed, while it stays the same. */
#define PADDLE_OPTIMIZER_VERSION 1

/* In C++ too any number may be given, so that a wrong one is refused. (The library is built as C++17.) */
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

/* A new object, or NULL with a message. FLOAT32 and FLOAT64 are taken, the other types refused. `parameter` is copied
   and needs no alignment; it may be NULL where there are 0 bytes, or where a state is given, which replaces it.
   `state`: what paddle_optimizer_get_state gave for the same optimizer, averages, type and size; NULL: a beginning. The
   numbers of the formulas are those of the configuration. */
paddle_optimizer* paddle_create_optimizer(const void* config_proto, size_t config_proto_len, paddle_element_type type,
                                          const void* parameter, size_t num_bytes, const void* state, size_t state_len);

/* Frees the object and what was borrowed from it. NULL is fine; a second release is refused. */
int paddle_release_optimizer(paddle_optimizer* o);

/* One step with a dense gradient of the parameter's type and size, aligned to its elements, outside the parameter. */
int paddle_update_parameter(paddle_optimizer* o, paddle_element_type type, const void* gradient, size_t num_bytes);

/* One step with a gradient for some rows of a table: gradient row i is for table row rows[i]. A row that is named more
   than once gets the sum. What a step costs follows the rows it names (row_policy Lazy). A call with no rows counts as
   an update. */
int paddle_update_parameter_rows(paddle_optimizer* o, paddle_element_type type, const int64_t* rows, size_t num_rows,
                                 const void* gradient, size_t num_bytes);

/* parameter += scale delta, for a client that did the optimizing. Counts as an update for averages and learning
   rates. */
int paddle_apply_delta(paddle_optimizer* o, paddle_element_type type, const void* delta, size_t num_bytes,
                       double scale);

/* The parameter, borrowed: valid until the release, and the same address every time. It shows the newest update; of
   rows whose decay is caught up late, as they are when this is called. num_bytes may be NULL. Returns NULL with a message
   on error, and on no other occasion: a parameter of 0 bytes has an address, too. */
const void* paddle_optimizer_param(const paddle_optimizer* o, size_t* num_bytes);

/* A copy of some rows of the table, caught up. */
int paddle_optimizer_get_rows(const paddle_optimizer* o, paddle_element_type type, const int64_t* rows, size_t num_rows,
                              void* values, size_t num_bytes);

/* Everything the object keeps, exact to the bit, for paddle_create_optimizer; to be freed with
   paddle_optimizer_free_state. */
int paddle_optimizer_get_state(const paddle_optimizer* o, const void** state, size_t* state_len);
int paddle_optimizer_free_state(const void* state); /* NULL is fine; a second time is refused */

/* The rate of the next updates in place of the policy's; at least 0. It is part of the state. */
int paddle_optimizer_set_learning_rate(paddle_optimizer* o, double learning_rate);
/* Of the last update; before the first one, what the policy says for 0. */
int paddle_optimizer_get_learning_rate(const paddle_optimizer* o, double* learning_rate);
/* For the policy PassManual: the pass that the next updates belong to; 0 at first. */
int paddle_optimizer_set_pass(paddle_optimizer* o, int64_t pass);
/* Updates that were made, and that were left out because a gradient was not finite (nan_policy Skip). Either may be
   NULL. */
int paddle_optimizer_get_updates(const paddle_optimizer* o, uint64_t* updates, uint64_t* skipped);

/* A copy of one of the averages that the configuration lists, `which` from 0; before an average's first member, of the
   parameter. */
int paddle_optimizer_average(const paddle_optimizer* o, size_t which, paddle_element_type type, void* average,
                             size_t num_bytes);

/* What the last call of this thread that failed said; "" when none has. Valid until the thread's next call. */
const char* paddle_optimizer_last_error(void);
int paddle_optimizer_last_status(void); /* and its status, for the functions that return a pointer; OK when none has */
int paddle_optimizer_version(void); /* of the library: PADDLE_OPTIMIZER_VERSION of its header */
/* Which instructions it uses on this machine: "v4" (AVX-512), "v3" (AVX2), "v2" or "baseline". */
const char* paddle_optimizer_processor_level(void);

#ifdef __cplusplus
}
#endif
#endif /* PADDLE_OPTIMIZER_H_ */
