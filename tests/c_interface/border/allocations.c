/* allocations.c: allocations PREFIX TRAIN. The memory runs out at every single place; statuses say so, nothing has
   changed, and the call succeeds as soon as there is memory. */
#include "../../allocator.h"
#include "calls.h"

int failures;
void failed(const char* file, int line, const char* what) {
  long kept = allowed;
  allowed = -1;
  fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", file, line, what, pm_last_error());
  allowed = kept;
  ++failures;
}

static const char *prefix, *training;
static char model_path[4096], parameters_path[4096];
static pm_program program, train_program;
static pm_scope scope;
static pm_executor executor;
static pm_signature signature, train_signature;
static pm_predictor predictor;
static pm_values values;
static uint64_t made;
static float numbers[ROWS * INPUTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static int64_t labels[ROWS] = {0, 2};

static int load_program(void) { return pm_program_load_file(model_path, &made); }
static int make_scope(void) { return pm_scope_create(&made); }
static int make_values(void) { return pm_values_create(&made); }
static int make_executor(void) { return pm_executor_create(NULL, &made); }
static int make_signature(void) { return pm_signature_create(program, NULL, 0, NULL, 0, &made); }
static int make_predictor(void) { return pm_predictor_load(prefix, NULL, PM_CHECKED, &made); }
static int load_parameters(void) { return pm_scope_load(scope, train_program, parameters_path, PM_UNCHECKED); }
static int set_value(void) {
  pm_tensor value = rows_of(numbers, ROWS);
  return pm_scope_set(scope, "a variable with a name that is not short", &value);
}
static int read_names(void) { return pm_scope_names(scope, values); }
static int run_model(void) {
  pm_tensor feed = rows_of(numbers, ROWS);
  return pm_run(executor, signature, scope, &feed, 1, values);
}
static int train_model(void) {
  pm_tensor feeds[2] = {rows_of(numbers, ROWS), {0}};
  feeds[1].data = labels;
  feeds[1].bytes = sizeof labels;
  feeds[1].dtype = PM_INT64;
  feeds[1].rank = 2;
  feeds[1].shape[0] = ROWS;
  feeds[1].shape[1] = 1;
  return pm_run(executor, train_signature, scope, feeds, 2, 0);
}
static int predict(void) {
  pm_tensor feed = rows_of(numbers, ROWS);
  return pm_predictor_run(predictor, &feed, 1, values);
}

/* The bytes of all variables of the scope, summed up with their positions. */
static uint64_t digest(void) {
  uint64_t sum = 0;
  size_t count = 0;
  pm_values names = 0, found = 0;
  DONE(pm_values_create(&names));
  DONE(pm_values_create(&found));
  DONE(pm_scope_names(scope, names));
  DONE(pm_values_count(names, &count));
  for (size_t i = 0; i < count; ++i) {
    const char* name = NULL;
    pm_tensor value;
    DONE(pm_values_text(names, i, &name));
    if (pm_scope_get(scope, &name, 1, found) != PM_OK) continue; /* declared without a value */
    DONE(pm_values_get(found, 0, 0, &value));
    for (size_t k = 0; k < value.bytes; ++k) sum = sum * 31 + ((const unsigned char*)value.data)[k] + i;
  }
  DONE(pm_release(names));
  DONE(pm_release(found));
  return sum;
}

/* `call` with memory for 0, step, 2 step … allocations, until that is enough. Returns the allocations that it needs. */
static long starve(int (*call)(void), const char* name, long step) {
  for (long n = 0; n < 10000000; n += step) {
    uint64_t before = scope ? digest() : 0;
    made = 0;
    allowed = n;
    int status = call();
    allowed = -1;
    if (status == PM_OK) return n;
    int right = status == PM_ERROR_RESOURCE && pm_last_error()[0] && !made;
    if (!right) fprintf(stderr, "%s with %ld allocations: status %d\n", name, n, status);
    EXPECT(right);
    if (scope && digest() != before) {
      fprintf(stderr, "%s changed the scope, allocation %ld\n", name, n);
      ++failures;
    }
  }
  failed(__FILE__, __LINE__, name);
  return 0;
}

static uint64_t starved(int (*call)(void), const char* name, long step) {
  starve(call, name, step);
  EXPECT(made != 0);
  return made;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  prefix = argv[1];
  training = argv[2];
  snprintf(model_path, sizeof model_path, "%s.pdmodel", prefix);
  snprintf(parameters_path, sizeof parameters_path, "%s.pdiparams", training);
  char train_path[4096];
  snprintf(train_path, sizeof train_path, "%s.pdmodel", training);
  program = starved(load_program, "the first program, which loads the kernels", 7919);
  for (once = 0; once < 2; ++once) {
    DONE(pm_release(starved(load_program, "program_load", 1)));
    DONE(pm_program_load_file(train_path, &train_program));
    values = starved(make_values, "values_create", 1);
    executor = starved(make_executor, "executor_create", 1);
    signature = starved(make_signature, "signature_create", 1);
    predictor = starved(make_predictor, "predictor_load", 3);
    scope = starved(make_scope, "scope_create", 1);
    starve(load_parameters, "scope_load", 1);
    starve(load_parameters, "scope_load, the second time", 1);
    starve(set_value, "scope_set", 1);
    starve(read_names, "scope_names", 1);
    starve(run_model, "run", 5);
    static const char* const feeds[2] = {"x", "label"};
    DONE(pm_signature_create(train_program, feeds, 2, NULL, 0, &train_signature));
    starve(train_model, "run of a step of training", 3);
    starve(predict, "predictor_run", 5);
    uint64_t all[8] = {values, executor, signature, predictor, scope, train_program, train_signature, 0};
    scope = 0;
    for (int i = 0; i < 8; ++i) DONE(pm_release(all[i]));
  }
  return failures ? 1 : 0;
}
