/* late.c: late PREFIX. Runs a predictor, and once more while the process exits, as a thread does that others do not wait for. */
#include "threads.h"

static pm_predictor predictor;
static pm_values values;

static void predict(void) {
  float inputs[INPUTS] = {0};
  pm_tensor feed = rows_of(inputs, 1);
  DONE(pm_predictor_run(predictor, &feed, 1, values));
}

static void predict_late(void) {
  for (int i = 0; i < 100; ++i) predict();
  if (failures) _Exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  atexit(predict_late); /* runs after the destructors of what the first run makes */
  DONE(pm_values_create(&values));
  DONE(pm_predictor_load(argv[1], NULL, PM_CHECKED, &predictor));
  predict();
  return failures != 0;
}
