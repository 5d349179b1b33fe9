/* shared.c: shared FOLDER ROUNDS, of the models of c_builds.py. Eight threads use the same objects by every function of the
   header at the same time; each sentence there about threads is checked here. */
#include "threads.h"

#include <sched.h>

enum { THREADS = 8, OUTPUTS = 3 };

static char folder[2048];
static long rounds;
static pm_program program, train_program;
static pm_scope scope, trained, alone;
static pm_executor executor;
static pm_signature signature, train_signature, endless_signature;
static pm_predictor predictor;
static pm_values values, texts;
static uint64_t passing; /* a predictor that is released while others use it */
static float numbers[ROWS * INPUTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, expected[ROWS * OUTPUTS];
static int64_t labels[ROWS] = {0, 2};
static const char* const of_layer[] = {"fc_0.w_0", "fc_0.b_0"};

static const char* path_of(const char* name, char* path) {
  snprintf(path, 4096, "%s/%s", folder, name);
  return path;
}
static int is(int status, int other) { return status == PM_OK || status == other; }
/* --- the first calls of the process, and of each object ------------------------------------------- */
static void* begin(void* number) {
  const char* level = NULL;
  char path[4096];
  pm_program mine = 0;
  size_t count = 0;
  EXPECT(pm_version() == PM_VERSION && pm_last_error()[0] == 0);
  DONE(pm_kernel_level(&level));
  DONE(pm_program_load_file(path_of("m.pdmodel", path), &mine));
  uint64_t none = 0;
  if (!__atomic_compare_exchange_n(&program, &none, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    DONE(pm_release(mine));
  DONE(pm_program_count(__atomic_load_n(&program, __ATOMIC_ACQUIRE), PM_FEEDS, &count)); /* verifies it */
  EXPECT(level && count == 1);
  return number;
}

static void make_objects(void) {
  static const char* const feeds[2] = {"x", "label"};
  char path[4096];
  pm_program endless = 0;
  DONE(pm_program_load_file(path_of("train.pdmodel", path), &train_program));
  DONE(pm_program_load_file(path_of("endless.pdmodel", path), &endless));
  DONE(pm_scope_create(&scope));
  DONE(pm_scope_load(scope, program, path_of("m.pdiparams", path), PM_CHECKED));
  pm_scope* both[2] = {&trained, &alone};
  for (int i = 0; i < 2; ++i) {
    DONE(pm_scope_create(both[i]));
    DONE(pm_scope_load(*both[i], train_program, path_of("train.pdiparams", path), PM_CHECKED));
  }
  DONE(pm_executor_create(NULL, &executor));
  DONE(pm_signature_create(program, NULL, 0, NULL, 0, &signature));
  DONE(pm_signature_create(train_program, feeds, 2, NULL, 0, &train_signature));
  DONE(pm_signature_create(endless, NULL, 0, NULL, 0, &endless_signature));
  DONE(pm_release(endless));
  DONE(pm_predictor_create(program, scope, NULL, &predictor));
  DONE(pm_predictor_clone(predictor, NULL, &passing));
  DONE(pm_values_create(&values));
  DONE(pm_values_create(&texts));
}

/* --- inference, and every function that reads or makes ------------------------------------------- */
static void read_program(size_t number) {
  char name[64];
  const char* found = NULL;
  size_t count = 0;
  pm_tensor declared;
  DONE(pm_program_count(program, PM_PARAMETERS, &count));
  DONE(pm_program_name(program, PM_FETCHES, 0, &found));
  DONE(pm_program_variable(program, "x", &declared));
  snprintf(name, sizeof name, "nothing of thread %zu", number);
  EXPECT(pm_program_variable(program, name, &declared) == PM_ERROR_PROGRAM);
  sched_yield(); /* others fail too */
  EXPECT(strstr(pm_last_error(), name) != NULL);
}

static void right_outputs(pm_values found) {
  pm_tensor output = {0};
  DONE(pm_values_get(found, 0, 0, &output));
  EXPECT(output.bytes == sizeof expected && memcmp(output.data, expected, sizeof expected) == 0);
}

static void infer(pm_values mine) {
  pm_tensor feed = rows_of(numbers, ROWS);
  size_t bytes = 0;
  DONE(pm_run(executor, signature, scope, &feed, 1, mine));
  right_outputs(mine);
  DONE(pm_predictor_run(predictor, &feed, 1, mine));
  right_outputs(mine);
  DONE(pm_plan_text(executor, signature, scope, &feed, 1, "plan", mine));
  DONE(pm_predictor_memory(predictor, &bytes, NULL));
  DONE(pm_predictor_warm_up(predictor, &feed, 1, 2));
  DONE(pm_executor_random_state(executor, mine));
  const char* state = NULL;
  DONE(pm_values_text(mine, 0, &state));
  DONE(pm_executor_set_random_state(executor, state));
}

/* One values of all threads: a call is refused while another one fills it, and what it then holds is of one call. */
static void fill_shared(void) {
  pm_tensor feed = rows_of(numbers, ROWS), output;
  size_t count = 0, elements = 0;
  int32_t kind = 0;
  const char* text = NULL;
  EXPECT(is(pm_predictor_run(predictor, &feed, 1, values), PM_ERROR_IN_USE));
  EXPECT(is(pm_values_count(values, &count), PM_ERROR_IN_USE));
  EXPECT(is(pm_values_kind(values, 0, &kind, &elements), PM_ERROR_IN_USE) || !count);
  EXPECT(is(pm_values_get(values, 0, 0, &output), PM_ERROR_IN_USE) || !count); /* not the memory, which others fill */
  EXPECT(is(pm_scope_names(scope, texts), PM_ERROR_IN_USE));
  EXPECT(is(pm_values_text(texts, 0, &text), PM_ERROR_IN_USE) || !text);
}

/* Variables of one scope: other uses end first, or the call is refused. */
static void edit(size_t number, pm_values mine) {
  char name[64], path[4096];
  const char* names[1] = {name};
  pm_tensor value = rows_of(numbers, ROWS), found = {0};
  snprintf(name, sizeof name, "of thread %zu", number);
  if (pm_scope_set(scope, name, &value) == PM_OK) {
    DONE(pm_scope_get(scope, names, 1, mine));
    DONE(pm_values_get(mine, 0, 0, &found));
    EXPECT(memcmp(found.data, numbers, sizeof numbers) == 0);
  }
  EXPECT(is(pm_scope_erase(scope, name), PM_ERROR_IN_USE));
  EXPECT(is(pm_scope_load(scope, program, path_of("m.pdiparams", path), PM_CHECKED), PM_ERROR_IN_USE));
  snprintf(name, sizeof name, "written_%zu.pdiparams", number % 2); /* two threads write one file */
  DONE(pm_scope_save(scope, program, path_of(name, path)));
  DONE(pm_scope_wait(scope));
}

/* An object is released while calls use it: they end, and later ones are refused. */
static void pass(size_t number, pm_values mine) {
  pm_tensor feed = rows_of(numbers, ROWS);
  uint64_t now = __atomic_load_n(&passing, __ATOMIC_ACQUIRE), fresh = 0;
  int status = pm_predictor_run(now, &feed, 1, mine);
  EXPECT(is(status, PM_ERROR_ARGUMENT));
  if (status == PM_OK) right_outputs(mine);
  else EXPECT(strstr(pm_last_error(), "released") != NULL);
  if (number % 2) return;
  DONE(pm_predictor_clone(predictor, NULL, &fresh));
  now = __atomic_exchange_n(&passing, fresh, __ATOMIC_ACQ_REL);
  DONE(pm_release(now));
  EXPECT(pm_release(now) == PM_ERROR_ARGUMENT);
}

static void make(pm_values mine) {
  pm_executor one = 0;
  pm_scope empty = 0;
  pm_signature made = 0;
  pm_program again = 0;
  pm_predictor loaded = 0;
  char path[4096];
  DONE(pm_executor_create(NULL, &one));
  DONE(pm_scope_create(&empty));
  DONE(pm_signature_create(program, NULL, 0, NULL, 0, &made));
  DONE(pm_predictor_program(predictor, &again));
  snprintf(path, sizeof path, "%s/m", folder);
  DONE(pm_predictor_load(path, NULL, PM_CHECKED, &loaded));
  EXPECT(pm_load_operators(path) != PM_OK && strstr(pm_last_error(), path));
  pm_tensor feed = rows_of(numbers, ROWS);
  DONE(pm_run(one, made, scope, &feed, 1, mine));
  right_outputs(mine);
  uint64_t all[5] = {one, empty, made, again, loaded};
  for (int i = 0; i < 5; ++i) DONE(pm_release(all[i]));
}

static void* use(void* argument) {
  size_t number = (size_t)argument;
  pm_values mine = 0;
  DONE(pm_values_create(&mine));
  for (long i = 0; i < rounds; ++i) {
    switch ((i + (long)number) % 6) {
      case 0: read_program(number); break;
      case 1: infer(mine); break;
      case 2: fill_shared(); break;
      case 3: edit(number, mine); break;
      case 4: pass(number, mine); break;
      default: make(mine);
    }
  }
  DONE(pm_release(mine));
  return NULL;
}

/* --- training ------------------------------------------------------------------------------------- */
static int step(pm_scope of) {
  pm_tensor feeds[2] = {rows_of(numbers, ROWS), {0}};
  feeds[1].data = labels;
  feeds[1].bytes = sizeof labels;
  feeds[1].dtype = PM_INT64;
  feeds[1].rank = 2;
  feeds[1].shape[0] = ROWS;
  feeds[1].shape[1] = 1;
  return pm_run(executor, train_signature, of, feeds, 2, 0);
}

static uint64_t sum_of(pm_values found) {
  uint64_t sum = 0;
  for (size_t i = 0; i < 2; ++i) {
    pm_tensor value = {0};
    DONE(pm_values_get(found, i, 0, &value));
    for (size_t k = 0; k < value.bytes; ++k) sum = sum * 31 + ((const unsigned char*)value.data)[k] + 1;
  }
  return sum;
}

/* Steps of several threads in one scope come one after another; values that were read keep their bytes. */
static void* train(void* number) {
  pm_values mine = 0;
  DONE(pm_values_create(&mine));
  for (long i = 0; i < rounds; ++i) {
    DONE(pm_scope_get(trained, of_layer, 2, mine));
    uint64_t before = sum_of(mine);
    DONE(step(trained));
    EXPECT(sum_of(mine) == before);
  }
  DONE(pm_release(mine));
  return number;
}

static void compare_training(void) {
  uint64_t sums[2];
  for (long i = 0; i < rounds * THREADS; ++i) DONE(step(alone));
  DONE(pm_scope_get(trained, of_layer, 2, values));
  sums[0] = sum_of(values);
  DONE(pm_scope_get(alone, of_layer, 2, values));
  sums[1] = sum_of(values);
  EXPECT(sums[0] == sums[1]);
}

/* --- during a run that does not end --------------------------------------------------------------- */
static int runs, others_are_done;
static pthread_t runner;
static int stop(void* context) {
  EXPECT(context == &runs && pthread_equal(pthread_self(), runner));
  __atomic_store_n(&runs, 1, __ATOMIC_RELEASE);
  return __atomic_load_n(&others_are_done, __ATOMIC_ACQUIRE);
}

static void* run_endlessly(void* unused) {
  pm_options options = {0};
  pm_executor own = 0;
  options.size = sizeof options;
  options.stop = stop;
  options.context = &runs;
  runner = pthread_self();
  DONE(pm_executor_create(&options, &own));
  EXPECT(pm_run(own, endless_signature, scope, NULL, 0, 0) == PM_STOPPED);
  DONE(pm_release(own));
  return unused;
}

static void during_a_run(void) {
  pthread_t thread;
  char path[4096];
  pm_tensor feed = rows_of(numbers, ROWS);
  EXPECT(pthread_create(&thread, NULL, run_endlessly, NULL) == 0);
  while (!__atomic_load_n(&runs, __ATOMIC_ACQUIRE)) sched_yield();
  DONE(pm_run(executor, signature, scope, &feed, 1, values)); /* both only read the scope */
  right_outputs(values);
  DONE(pm_predictor_run(predictor, &feed, 1, values));
  DONE(pm_scope_get(scope, of_layer, 2, values));
  DONE(pm_scope_names(scope, texts));
  DONE(pm_scope_save(scope, program, path_of("written_0.pdiparams", path)));
  EXPECT(pm_scope_set(scope, "x", &feed) == PM_ERROR_IN_USE);
  EXPECT(pm_scope_erase(scope, "x") == PM_ERROR_IN_USE);
  EXPECT(pm_scope_load(scope, program, path_of("m.pdiparams", path), PM_CHECKED) == PM_ERROR_IN_USE);
  DONE(pm_release(endless_signature)); /* the run continues */
  __atomic_store_n(&others_are_done, 1, __ATOMIC_RELEASE);
  EXPECT(pthread_join(thread, NULL) == 0);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  snprintf(folder, sizeof folder, "%s", argv[1]);
  rounds = atol(argv[2]);
  in_threads(THREADS, begin);
  if (failures) return 1;
  make_objects();
  if (failures) return 1;
  pm_tensor feed = rows_of(numbers, ROWS), output = {0};
  DONE(pm_predictor_run(predictor, &feed, 1, values));
  DONE(pm_values_get(values, 0, 0, &output));
  memcpy(expected, output.data, sizeof expected);
  in_threads(THREADS, use);
  in_threads(THREADS, train);
  compare_training();
  during_a_run();
  uint64_t all[] = {program,   train_program,   scope,     trained, alone, executor,
                    signature, train_signature, predictor, values,  texts, passing};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) DONE(pm_release(all[i]));
  return failures ? 1 : 0;
}
