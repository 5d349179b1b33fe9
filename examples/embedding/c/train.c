/* train.c: train FOLDER STEPS. Trains FOLDER/train.pdmodel, whose program contains its optimizer and an average of the
   parameters, and saves the averaged parameters in FOLDER/averaged.pdiparams. make_model.py writes the folder. */
#include <paddle_mini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, INPUTS = 6, CLASSES = 3 };

static void check(int status) {
  if (status == PM_OK) return;
  fprintf(stderr, "train: %s\n", pm_last_error());
  exit(1);
}

static const char* in_folder(const char* folder, const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static pm_tensor array(const void* data, size_t bytes, int32_t dtype, int64_t columns) {
  pm_tensor made = {0};
  made.data = data;
  made.bytes = bytes;
  made.dtype = dtype;
  made.rank = 2;
  made.shape[0] = ROWS;
  made.shape[1] = columns;
  return made;
}

/* The batch of a step: the class of a row is what its first numbers have as largest. */
static void fill(int step, float* x, int64_t* label) {
  for (int i = 0; i < ROWS; ++i) {
    label[i] = 0;
    for (int k = 0; k < INPUTS; ++k) {
      x[i * INPUTS + k] = (float)((step * 31 + i * 17 + k * 7 + i * k * 3) % 16) / 8 - 1;
      if (k < CLASSES && x[i * INPUTS + k] > x[i * INPUTS + label[i]]) label[i] = k;
    }
  }
}

/* Runs a program without feeds and fetches, such as the one that computes averages. */
static void run_file(pm_executor executor, pm_scope scope, const char* path) {
  pm_program program;
  pm_signature signature;
  check(pm_program_load_file(path, &program));
  check(pm_signature_create(program, NULL, 0, NULL, 0, &signature));
  check(pm_run(executor, signature, scope, NULL, 0, 0));
  check(pm_release(signature));
  check(pm_release(program));
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fputs("usage: train FOLDER STEPS\n", stderr);
    return 2;
  }
  const char *folder = argv[1], *names[] = {"x", "label"}, *loss[] = {"mean_0.tmp_0"};
  pm_program program;
  pm_scope scope;
  pm_executor executor;
  pm_signature signature;
  pm_values fetched;
  check(pm_program_load_file(in_folder(folder, "train.pdmodel"), &program));
  check(pm_scope_create(&scope));
  check(pm_scope_load(scope, program, in_folder(folder, "train.pdiparams"), PM_CHECKED));
  check(pm_executor_create(NULL, &executor));
  check(pm_signature_create(program, names, 2, loss, 1, &signature));
  check(pm_values_create(&fetched));

  float x[ROWS * INPUTS];
  int64_t label[ROWS];
  for (int step = 0; step < atoi(argv[2]); ++step) {
    fill(step, x, label);
    pm_tensor feeds[2] = {array(x, sizeof x, PM_FLOAT32, INPUTS), array(label, sizeof label, PM_INT64, 1)}, value;
    check(pm_run(executor, signature, scope, feeds, 2, fetched));
    check(pm_values_get(fetched, 0, 0, &value));
    if (step % 100 == 0) printf("step %3d  loss %.4f\n", step, *(const float*)value.data);
  }
  run_file(executor, scope, in_folder(folder, "apply.pdmodel"));
  check(pm_scope_save(scope, program, in_folder(folder, "averaged.pdiparams")));
  run_file(executor, scope, in_folder(folder, "restore.pdmodel"));
  check(pm_scope_save(scope, program, in_folder(folder, "last.pdiparams")));

  uint64_t handles[] = {program, scope, executor, signature, fetched};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; ++i) check(pm_release(handles[i]));
  return 0;
}
