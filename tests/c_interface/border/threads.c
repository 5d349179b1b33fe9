/* threads.c: threads PREFIX THREADS CALLS LIVES. Threads share a predictor, and make and release objects of their own; the
   memory and the table of handles do not grow. */
#include "threads.h"

#include <malloc.h>

enum { MOST = 3, OUTPUTS = 3 };
static const char* prefix;
static pm_predictor shared;
static pm_scope stale;
static long calls, lives;
static float inputs[MOST * INPUTS], expected[MOST][MOST * OUTPUTS];

static void predict(pm_predictor predictor, pm_values values, int rows, float* outputs) {
  pm_tensor feed = rows_of(inputs, rows), found = {0};
  DONE(pm_predictor_run(predictor, &feed, 1, values));
  DONE(pm_values_get(values, 0, 0, &found));
  EXPECT(found.bytes == (size_t)rows * OUTPUTS * sizeof(float) && found.data);
  if (found.data) memcpy(outputs, found.data, found.bytes);
}

static void* work(void* number) {
  pm_values values = 0;
  float outputs[MOST * OUTPUTS];
  DONE(pm_values_create(&values));
  for (long i = 0; i < calls; ++i) {
    int rows = 1 + (int)((i + (long)(size_t)number) % MOST);
    predict(shared, values, rows, outputs);
    EXPECT(memcmp(outputs, expected[rows - 1], (size_t)rows * OUTPUTS * sizeof(float)) == 0);
    EXPECT(i % 64 || (pm_scope_wait(stale) == PM_ERROR_ARGUMENT && strstr(pm_last_error(), "released")));
  }
  DONE(pm_release(values));
  return NULL;
}

/* Makes everything, runs it once, and releases it. */
static void live(int rows) {
  pm_predictor clone = 0;
  pm_scope scope = 0;
  pm_values values = 0;
  float outputs[MOST * OUTPUTS];
  pm_tensor value = rows_of(inputs, rows);
  DONE(pm_predictor_clone(shared, NULL, &clone));
  DONE(pm_scope_create(&scope));
  DONE(pm_values_create(&values));
  DONE(pm_scope_set(scope, "x", &value));
  predict(clone, values, rows, outputs);
  DONE(pm_release(clone));
  DONE(pm_release(scope));
  DONE(pm_release(values));
}

static void* work_and_live(void* number) {
  for (long i = 0; i < lives; ++i) live(1 + (int)((i + (long)(size_t)number) % MOST));
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  prefix = argv[1];
  int threads = atoi(argv[2]);
  calls = atol(argv[3]);
  lives = atol(argv[4]) / 4;
  pm_options options = {0};
  options.size = sizeof options;
  options.threads = 1;
  for (int i = 0; i < MOST * INPUTS; ++i) inputs[i] = (float)(i % 7) - 3;
  DONE(pm_scope_create(&stale));
  DONE(pm_release(stale));
  DONE(pm_predictor_load(prefix, &options, PM_CHECKED, &shared));
  if (failures) return 1;
  pm_values values = 0;
  DONE(pm_values_create(&values));
  for (int rows = 1; rows <= MOST; ++rows) predict(shared, values, rows, expected[rows - 1]);
  DONE(pm_release(values));
  in_threads(threads, work);
  in_threads(4, work_and_live);
  size_t before = mallinfo2().uordblks;
  in_threads(4, work_and_live);
  size_t after = mallinfo2().uordblks;
  int grew = lives > 100 && after > before + 65536;
  if (grew) fprintf(stderr, "the memory in use has grown from %zu to %zu bytes\n", before, after);
  DONE(pm_release(shared));
  return failures || grew ? 1 : 0;
}
