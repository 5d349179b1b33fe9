/* handles.c: objects that were released, or never were any, are refused by every function. */
#include "border.h"

static void refused_by_all(paddle_optimizer* o) {
  float value = 0;
  int64_t row = 0;
  double rate;
  uint64_t updates;
  const void* state = &value;
  size_t size = 7;
  REFUSED(paddle_update_parameter(o, F32, &value, 4));
  REFUSED(paddle_update_parameter_rows(o, F32, &row, 1, &value, 4));
  REFUSED(paddle_apply_delta(o, F32, &value, 4, 1));
  REFUSED_OBJECT(paddle_optimizer_param(o, &size));
  REFUSED(paddle_optimizer_get_rows(o, F32, &row, 1, &value, 4));
  REFUSED(paddle_optimizer_get_state(o, &state, &size));
  REFUSED(paddle_optimizer_set_learning_rate(o, 1));
  REFUSED(paddle_optimizer_get_learning_rate(o, &rate));
  REFUSED(paddle_optimizer_set_pass(o, 1));
  REFUSED(paddle_optimizer_get_updates(o, &updates, NULL));
  REFUSED(paddle_optimizer_average(o, 0, F32, &value, 4));
  EXPECT(state == &value && size == 7);
}

/* Whatever takes the place of an object that was released, the old one stays refused. */
static void old_ones(void) {
  enum { COUNT = 200 };
  const config_message config = sgd_config();
  paddle_optimizer *old[COUNT], *young[COUNT];
  const float gradient = 1;
  for (int i = 0; i < COUNT; ++i) old[i] = make(&config, 1);
  for (int i = 0; i < COUNT; ++i) DONE(paddle_release_optimizer(old[i]));
  for (int i = 0; i < COUNT; ++i) young[i] = make(&config, 1);
  for (int i = 0; i < COUNT; ++i) {
    REFUSED(paddle_update_parameter(old[i], F32, &gradient, 4));
    REFUSED(paddle_release_optimizer(old[i]));
  }
  for (int i = 0; i < COUNT; ++i) {
    EXPECT(*(const float*)paddle_optimizer_param(young[i], NULL) == 1);
    DONE(paddle_release_optimizer(young[i]));
  }
}

/* A state is freed by its own address, and once. */
static void freed_once(const paddle_optimizer* o) {
  const saved state = save(o), other = save(o);
  REFUSED(paddle_optimizer_free_state((const char*)state.bytes + 1));
  REFUSED(paddle_optimizer_free_state(o));
  DONE(paddle_optimizer_free_state(state.bytes));
  REFUSED(paddle_optimizer_free_state(state.bytes));
  DONE(paddle_optimizer_free_state(other.bytes));
}

void handles(void) {
  const config_message config = sgd_config();
  char* elsewhere = malloc(64);
  int here = 0;
  DONE(paddle_release_optimizer(NULL));
  DONE(paddle_optimizer_free_state(NULL));
  refused_by_all(NULL);
  for (unsigned bit = 0; bit < 8 * sizeof(void*); ++bit) {
    paddle_optimizer* forged = (paddle_optimizer*)((uintptr_t)1 << bit);
    refused_by_all(forged);
    REFUSED(paddle_release_optimizer(forged));
    REFUSED(paddle_release_optimizer((paddle_optimizer*)~((uintptr_t)1 << bit)));
  }
  refused_by_all((paddle_optimizer*)(void*)elsewhere);
  refused_by_all((paddle_optimizer*)(void*)&here);
  free(elsewhere);

  paddle_optimizer* o = make(&config, 1);
  for (unsigned bit = 0; bit < 8 * sizeof(void*); ++bit)
    REFUSED(paddle_optimizer_set_pass((paddle_optimizer*)((uintptr_t)o ^ (uintptr_t)1 << bit), 1));
  REFUSED(paddle_optimizer_set_pass((paddle_optimizer*)(uintptr_t)paddle_optimizer_param(o, NULL), 1));
  freed_once(o);
  DONE(paddle_release_optimizer(o));
  refused_by_all(o);
  REFUSED(paddle_release_optimizer(o));
  old_ones();
}
