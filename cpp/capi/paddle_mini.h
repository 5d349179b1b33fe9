/* paddle_mini.h: programs, scopes, executors and predictors for any language that calls C99. */
#ifndef PADDLE_MINI_H_
#define PADDLE_MINI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface. Within a version functions are added, never changed. */
#define PM_VERSION 1

/* Every function that returns int returns PM_OK or an error; pm_last_error() is its message. After an error nothing has
   changed: no handle is made, no variable of a scope, and no run is half done. No call ends the process or throws. */
#define PM_OK 0
#define PM_ERROR_ARGUMENT (-1) /* NULL, a released or foreign handle, an option that does not exist */
#define PM_ERROR_PROGRAM (-2)  /* a program, a file or a name is invalid */
#define PM_ERROR_SHAPE (-3)    /* two shapes, dtypes or sizes disagree */
#define PM_ERROR_OPERATOR (-4) /* an operator can't compute with its data; a variable has no value */
#define PM_ERROR_IN_USE (-5)   /* another use of the scope, or of the pm_values, must end first */
#define PM_ERROR_RESOURCE (-6) /* a device or its kernel is missing, or memory is exhausted */
#define PM_STOPPED (-7)        /* `stop` ended the run; the scope holds the result of a complete step */

/* A handle is a number, not an address: a released one is refused, also where its place is used again. 0 is never a
   handle. All may be used by any thread at any time, except that one pm_values is filled by one call at a time. An object
   lives as long as others need it: a program may be released before its signatures. */
typedef uint64_t pm_program;   /* verified; constant */
typedef uint64_t pm_scope;     /* named values that outlive a run. Programs that only read it run at the same time */
typedef uint64_t pm_executor;  /* runs programs, one at a time: other threads wait */
typedef uint64_t pm_signature; /* a program with the names of its feeds and fetches; constant */
typedef uint64_t pm_predictor; /* a model for inference: calls of several threads run at the same time */
typedef uint64_t pm_values;    /* a list of values that a call has written; reused, it allocates no more */

/* PM_ERROR_ARGUMENT for a handle that was released already; 0 is allowed. A call of another thread that uses the object
   ends first; the object then ends with it. */
int pm_release(uint64_t handle);

/* The message of the last failed call of this thread, or ""; valid until the thread's next call. */
const char* pm_last_error(void);
int pm_version(void); /* PM_VERSION when the library was compiled */
/* The level of the kernels that this machine uses, "v4-amx" (AMX), "v4-bf16" (AVX512-BF16), "v4" (AVX-512), "v3" (AVX2),
   "v2" or "baseline"; valid forever. */
int pm_kernel_level(const char** level);
/* Adds the operators of a library that pm.load_op has compiled, for the whole process. Its code runs: load only your own. */
int pm_load_operators(const char* path);

/* The numbers of framework.proto. */
/* clang-format off */
enum { PM_BOOL = 0, PM_INT16 = 1, PM_INT32 = 2, PM_INT64 = 3, PM_FLOAT16 = 4, PM_FLOAT32 = 5, PM_FLOAT64 = 6,
       PM_UINT8 = 20, PM_INT8 = 21, PM_BFLOAT16 = 22, PM_COMPLEX64 = 23,
       PM_COMPLEX128 = 24 };
/* clang-format on */
enum { PM_TENSOR = 7, PM_SELECTED_ROWS = 8, PM_TENSOR_ARRAY = 13 };
enum { PM_MOST_DIMS = 9 };

/* The boundaries of sequences: offsets that rise from 0 to the rows of the next level, or of the tensor. */
typedef struct pm_level {
  const int64_t* offsets;
  size_t count;
} pm_level;

/* An array on the host. Zero for every field that does not apply. The library keeps no pointer of an argument. */
typedef struct pm_tensor {
  const void* data;
  size_t bytes; /* at `data`: exactly those of the shape, or with strides at least what they reach */
  int32_t dtype;
  int32_t rank;
  int64_t shape[PM_MOST_DIMS];
  const int64_t* strides; /* in elements, at least 0; NULL: contiguous. Others, and addresses that are not aligned to an
                             element, are copied; all other feeds are used where they are */
  const pm_level* lod;
  size_t lod_levels;
  const int64_t* rows; /* selected rows: data has row rows[i] of a table */
  size_t row_count;
  int64_t height; /* rows of the table; 0: this is not selected rows */
} pm_tensor;

/* The results of calls. The memory of its values and texts is valid until it is filled again or released. */
int pm_values_create(pm_values* values);
int pm_values_count(pm_values values, size_t* count);
/* kind: PM_TENSOR, PM_SELECTED_ROWS or PM_TENSOR_ARRAY; elements: of an array of tensors, otherwise 1. */
int pm_values_kind(pm_values values, size_t index, int32_t* kind, size_t* elements);
int pm_values_get(pm_values values, size_t index, size_t element, pm_tensor* tensor); /* data NULL: it has no value */
int pm_values_text(pm_values values, size_t index, const char** text); /* where a function returns texts */

/* Programs. They are decoded and checked here, and their operators are verified by the first call that needs them. A program
   with an optimizer is run like any other, and so are the programs that apply and restore averages of parameters
   (ParameterAverage.apply_program, restore_program). */
int pm_program_load(const void* bytes, size_t size, pm_program* program); /* a .pdmodel, or Program.to_bytes() */
int pm_program_load_file(const char* path, pm_program* program);
/* Names: of its feed and fetch operators, by column; of the variables of its parameter file, sorted. */
enum { PM_FEEDS = 0, PM_FETCHES = 1, PM_PARAMETERS = 2 };
int pm_program_count(pm_program program, int which, size_t* count);
int pm_program_name(pm_program program, int which, size_t index, const char** name); /* valid until the release */
/* The declared dtype and shape of a variable, without data; -1 for a dimension that any size fits. */
int pm_program_variable(pm_program program, const char* name, pm_tensor* declared);

/* Scopes. */
int pm_scope_create(pm_scope* scope);
/* Reads the parameters of a program: a .pdiparams file, a folder with a file for each, a state (.pdparams, with the .pdopt
   file beside it) or a .safetensors file; the content decides. All of them or none. They must be those that were saved with
   the program beside the file (program.pdmodel), or with these bytes, and a state must have no other names; PM_UNCHECKED
   takes others, if their dtypes and shapes fit. */
enum { PM_CHECKED = 0, PM_UNCHECKED = 1 };
int pm_scope_load(pm_scope scope, pm_program program, const char* path, int check);
int pm_scope_load_bytes(pm_scope scope, pm_program program, const void* bytes, size_t size, int check);
/* Writes the parameters of a program, atomically, and their checksum into a program beside the file. */
int pm_scope_save(pm_scope scope, pm_program program, const char* path);
int pm_scope_set(pm_scope scope, const char* name,
                 const pm_tensor* value); /* copies it; PM_ERROR_IN_USE during a run */
/* All values as they are at one moment, not copied unless they are on a device: a run that changes a variable leaves these
   bytes to `values` and gives the variable other memory. */
int pm_scope_get(pm_scope scope, const char* const* names, size_t count, pm_values values);
int pm_scope_erase(pm_scope scope, const char* name); /* does nothing if it does not exist */
int pm_scope_names(pm_scope scope, pm_values texts); /* sorted */
int pm_scope_wait(
    pm_scope scope); /* until no device uses its values; returns the error of work that runs after a run */

/* Executors. NULL for options: all of them 0. */
typedef struct pm_options {
  size_t size; /* sizeof(pm_options): later versions of this one may have more fields */
  const char* place; /* where operators run that name no device: "cpu", "gpu:0", "emulated:0"; NULL: cpu */
  int32_t threads; /* at most so many run one operator; 0: the CPUs that the process may use */
  int32_t has_seed; /* 0: a random seed for operators without one of their own */
  uint64_t seed;
  int64_t max_loop_steps; /* for each loop of a program in one run; 0: no bound */
  int32_t files; /* 1: operators may touch the files that a program names */
  int32_t cpu_fallback; /* 1: operators without a kernel on the place run on the CPU */
  int (*stop)(void* context); /* polled by the thread of the run about every 20 ms; other than 0 ends the run */
  void* context;
} pm_options;
int pm_executor_create(const pm_options* options, pm_executor* executor);
/* Text that restores the generator of random numbers, so that training resumes with the same bits. */
int pm_executor_random_state(pm_executor executor, pm_values text);
int pm_executor_set_random_state(pm_executor executor, const char* text);

/* feeds, fetches: NULL for the program's own. Make it once: calls with the same signature look nothing up by name. */
int pm_signature_create(pm_program program, const char* const* feeds, size_t feed_count, const char* const* fetches,
                        size_t fetch_count, pm_signature* signature);
/* Runs the program in the scope. Feeds are in the order of the signature and are read during the call only. fetched: 0 if
   no values are wanted; they are copied once. After an error the scope is as before, but for random numbers drawn. */
int pm_run(pm_executor executor, pm_signature signature, pm_scope scope, const pm_tensor* feeds, size_t feed_count,
           pm_values fetched);
/* The table of a stage, "plan", "infer" or the name of a pass, for these feeds, without a run. */
int pm_plan_text(pm_executor executor, pm_signature signature, pm_scope scope, const pm_tensor* feeds,
                 size_t feed_count, const char* stage, pm_values text);

/* Predictors: pm.Predictor of Python. Each call that runs at the same time as others has an executor of its own, which keeps
   a plan and memory for each shape of its inputs; parameters are in the memory once. On a device calls take turns. */
/* prefix: of PREFIX.pdmodel and PREFIX.pdiparams, or a folder of PaddlePaddle 1.x. */
int pm_predictor_load(const char* prefix, const pm_options* options, int check, pm_predictor* predictor);
int pm_predictor_create(pm_program program, pm_scope scope, const pm_options* options, pm_predictor* predictor);
int pm_predictor_clone(pm_predictor predictor, const pm_options* options, pm_predictor* clone); /* shares parameters */
int pm_predictor_run(pm_predictor predictor, const pm_tensor* inputs, size_t count, pm_values outputs);
/* Prepares so many calls at the same time with inputs of these shapes: it runs each once. */
int pm_predictor_warm_up(pm_predictor predictor, const pm_tensor* inputs, size_t count, size_t calls);
/* The bytes of the parameters, which clones share, and the number of calls that are prepared. Either may be NULL. */
int pm_predictor_memory(pm_predictor predictor, size_t* parameter_bytes, size_t* prepared_calls);
int pm_predictor_program(pm_predictor predictor, pm_program* program); /* a new handle, for names and shapes */

#ifdef __cplusplus
}
#endif
#endif /* PADDLE_MINI_H_ */
