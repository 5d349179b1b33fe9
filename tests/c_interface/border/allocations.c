/* allocations.c: allocations FOLDER N KERNELS, of the models of c_builds.py. The memory runs out at each N-th place of every
   function, and at each KERNELS-th place where the process loads the kernels; statuses say so, nothing has changed, and the
   call succeeds as soon as there is memory. */
#define _GNU_SOURCE /* _Fork */
#include "../../allocator.h"
#include "starving.h"

int failures;
void failed(const char* file, int line, const char* what) {
  long kept = allowed;
  allowed = -1;
  fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", file, line, what, pm_last_error());
  allowed = kept;
  ++failures;
}

static char model_prefix[4096], model_path[4096], train_path[4096], saved_path[4096];
static pm_program program, train_program;
static pm_scope scope;
static pm_executor executor;
static pm_signature signature, train_signature;
static pm_predictor predictor;
static pm_values values, texts;
static float numbers[ROWS * INPUTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static int64_t labels[ROWS] = {0, 2}, offsets[2] = {0, ROWS};
static pm_level level = {offsets, 2};

static void path_in(const char* folder, const char* name, char* path) { snprintf(path, 4096, "%s/%s", folder, name); }

enum { FORMATS = 4 };
static const char* const formats[FORMATS] = {"train.pdiparams", "train.pdparams", "state.pdparams",
                                             "state.safetensors"};
static char format_paths[FORMATS][4096];
static int format;
static char* contents;
static size_t size;

/* The bytes of a file; the caller frees them. */
static char* read_all(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  char* found = malloc(1 << 20);
  *bytes = file && found ? fread(found, 1, 1 << 20, file) : 0;
  if (file) fclose(file);
  return found;
}

/* --- calls, each of one function ------------------------------------------------------------------ */
static pm_tensor feed_of_labels(void) {
  pm_tensor made = {0};
  made.data = labels;
  made.bytes = sizeof labels;
  made.dtype = PM_INT64;
  made.rank = 2;
  made.shape[0] = ROWS;
  made.shape[1] = 1;
  return made;
}
static int load_program_file(void) { return pm_program_load_file(model_path, &made); }
static int load_program(void) { return pm_program_load(contents, size, &made); }
static int make_scope(void) { return pm_scope_create(&made); }
static int make_values(void) { return pm_values_create(&made); }
static int make_executor(void) { return pm_executor_create(NULL, &made); }
static int make_signature(void) { return pm_signature_create(program, NULL, 0, NULL, 0, &made); }
static int load_predictor(void) { return pm_predictor_load(model_prefix, NULL, PM_CHECKED, &made); }
static int make_predictor(void) { return pm_predictor_create(program, scope, NULL, &made); }
static int clone_predictor(void) { return pm_predictor_clone(predictor, NULL, &made); }
static int program_of_predictor(void) { return pm_predictor_program(predictor, &made); }

static int load_parameters(void) { return pm_scope_load(scope, train_program, format_paths[format], PM_UNCHECKED); }
static int load_bytes(void) { return pm_scope_load_bytes(scope, train_program, contents, size, PM_UNCHECKED); }
static int save_parameters(void) { return pm_scope_save(scope, train_program, saved_path); }
static int set_value(void) {
  pm_tensor value = rows_of(numbers, ROWS);
  value.lod = &level;
  value.lod_levels = 1;
  return pm_scope_set(scope, "a variable with a name that is not short", &value);
}
static int erase_value(void) { return pm_scope_erase(scope, "a variable with a name that is not there"); }
static int get_value(void) {
  static const char* const name = "a variable with a name that is not short";
  return pm_scope_get(scope, &name, 1, values);
}
static int wait_for_scope(void) { return pm_scope_wait(scope); }
static int read_names(void) { return pm_scope_names(scope, texts); }
static int read_value(void) {
  pm_tensor value;
  return pm_values_get(values, 0, 0, &value);
}
static int read_text(void) {
  const char* text;
  return pm_values_text(texts, 0, &text);
}
static int read_declaration(void) {
  pm_tensor declared;
  return pm_program_variable(program, "x", &declared);
}
static int read_feed_name(void) {
  const char* name;
  return pm_program_name(program, PM_FEEDS, 0, &name);
}
static int read_random_state(void) { return pm_executor_random_state(executor, texts); }
static int set_random_state(void) {
  const char* text = NULL;
  int status = pm_values_text(texts, 0, &text);
  return status == PM_OK ? pm_executor_set_random_state(executor, text) : status;
}
static int run_model(void) {
  pm_tensor feed = rows_of(numbers, ROWS);
  return pm_run(executor, signature, scope, &feed, 1, values);
}
static int write_plan(void) {
  pm_tensor feed = rows_of(numbers, ROWS);
  return pm_plan_text(executor, signature, scope, &feed, 1, "plan", texts);
}
static int train_model(void) {
  pm_tensor feeds[2] = {rows_of(numbers, ROWS), feed_of_labels()};
  return pm_run(executor, train_signature, scope, feeds, 2, 0);
}
static int predict(void) {
  pm_tensor feed = rows_of(numbers, ROWS);
  return pm_predictor_run(predictor, &feed, 1, values);
}
static int warm_up(void) {
  pm_tensor feed = rows_of(numbers, ROWS);
  return pm_predictor_warm_up(predictor, &feed, 1, 2);
}
static int read_memory(void) {
  size_t bytes, prepared;
  return pm_predictor_memory(predictor, &bytes, &prepared);
}

/* --- checks --------------------------------------------------------------------------------------- */
static uint64_t sum_of(uint64_t sum, const void* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) sum = sum * 31 + ((const unsigned char*)bytes)[i] + 1;
  return sum;
}

/* The bytes of the file that is saved, and of all variables of the scope, with their names. */
static uint64_t digest(void) {
  size_t count = 0, bytes = 0;
  char* file = read_all(saved_path, &bytes);
  uint64_t sum = sum_of(0, file, bytes);
  pm_values names = 0, found = 0;
  free(file);
  if (!scope) return sum;
  DONE(pm_values_create(&names));
  DONE(pm_values_create(&found));
  DONE(pm_scope_names(scope, names));
  DONE(pm_values_count(names, &count));
  for (size_t i = 0; i < count; ++i) {
    const char* name = NULL;
    pm_tensor value;
    DONE(pm_values_text(names, i, &name));
    sum = sum_of(sum, name, strlen(name));
    if (pm_scope_get(scope, &name, 1, found) != PM_OK) continue; /* declared without a value */
    DONE(pm_values_get(found, 0, 0, &value));
    sum = sum_of(sum, value.data, value.bytes);
  }
  DONE(pm_release(names));
  DONE(pm_release(found));
  return sum;
}

static void starve_files(void) {
  for (format = 0; format < FORMATS; ++format) {
    starve(load_parameters, formats[format]);
    contents = read_all(format_paths[format], &size);
    if (format != 1) starve(load_bytes, "scope_load_bytes"); /* train.pdparams needs train.pdopt */
    free(contents);
  }
  starve(save_parameters, "scope_save");
}

/* Where one call needs what another one wrote, it comes after it. */
static const struct {
  int (*call)(void);
  const char* name;
} calls[] = {{load_parameters, "scope_load, the second time"},
             {save_parameters, "scope_save, the second time"},
             {set_value, "scope_set"},
             {set_value, "scope_set, the second time"},
             {get_value, "scope_get"},
             {read_value, "values_get"},
             {erase_value, "scope_erase"},
             {wait_for_scope, "scope_wait"},
             {read_names, "scope_names"},
             {read_text, "values_text"},
             {read_declaration, "program_variable"},
             {read_feed_name, "program_name"},
             {read_random_state, "executor_random_state"},
             {set_random_state, "executor_set_random_state"},
             {run_model, "run"},
             {write_plan, "plan_text"},
             {train_model, "run of a step of training"},
             {predict, "predictor_run"},
             {warm_up, "predictor_warm_up"},
             {read_memory, "predictor_memory"}};

static void live(void) {
  static const char* const feeds[2] = {"x", "label"};
  contents = read_all(model_path, &size);
  DONE(pm_release(starved(load_program_file, "program_load_file")));
  DONE(pm_release(starved(load_program, "program_load")));
  free(contents);
  DONE(pm_program_load_file(train_path, &train_program));
  values = starved(make_values, "values_create");
  DONE(pm_values_create(&texts));
  executor = starved(make_executor, "executor_create");
  signature = starved(make_signature, "signature_create");
  predictor = starved(load_predictor, "predictor_load");
  DONE(pm_release(starved(clone_predictor, "predictor_clone")));
  DONE(pm_release(starved(program_of_predictor, "predictor_program")));
  scope = starved(make_scope, "scope_create");
  starve_files();
  format = 0;
  DONE(pm_release(starved(make_predictor, "predictor_create")));
  DONE(pm_signature_create(train_program, feeds, 2, NULL, 0, &train_signature));
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) starve(calls[i].call, calls[i].name);
  uint64_t all[9] = {values, texts, executor, signature, predictor, scope, train_program, train_signature, 0};
  scope = 0;
  for (int i = 0; i < 9; ++i) DONE(pm_release(all[i]));
}

static const char* const loads_kernels = "the first program, which loads the kernels";

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  path_in(argv[1], "m", model_prefix);
  path_in(argv[1], "m.pdmodel", model_path);
  path_in(argv[1], "train.pdmodel", train_path);
  path_in(argv[1], "saved.pdiparams", saved_path);
  for (int i = 0; i < FORMATS; ++i) path_in(argv[1], formats[i], format_paths[i]);
  step = atol(argv[3]);
  for (once = 0; once < 2; ++once) starve_in_children(load_program_file, loads_kernels);
  once = 0;
  step = 7919;
  program = starved(load_program_file, loads_kernels);
  step = atol(argv[2]);
  for (; once < 2; ++once) live();
  DONE(pm_release(program));
  return failures ? 1 : 0;
}
