/* gradients.c: values that are not finite, dense and sparse optimizers, parameters with no or one element. */
#include "border.h"

static void with_policy(unsigned policy, int status, uint64_t skipped) {
  config_message config = sgd_config();
  put_whole(&config, 105, policy);
  paddle_optimizer* o = make(&config, 4);
  float gradient[4] = {0, strtof("nan", NULL), strtof("inf", NULL), 0};
  int64_t row = 0;
  uint64_t updates = 9, left_out = 9;
  EXPECT(paddle_update_parameter(o, F32, gradient, 16) == status);
  EXPECT(paddle_update_parameter_rows(o, F32, &row, 1, gradient, 16) == status);
  DONE(paddle_optimizer_get_updates(o, &updates, &left_out));
  EXPECT(updates == (policy == 0 ? 2u : 0u) && left_out == skipped);
  const float* values = paddle_optimizer_param(o, NULL);
  EXPECT(policy == 0 ? values[1] != values[1] : values[1] == 1 && values[2] == 1);
  DONE(paddle_release_optimizer(o));
}

static void rows_of(unsigned optimizer, int taken) {
  const config_message config = config_of(optimizer);
  paddle_optimizer* o = make(&config, 4);
  const float gradient[4] = {1, 1, 1, 1};
  const int64_t rows[2] = {1, 1};
  saved before = save(o);
  if (taken) DONE(paddle_update_parameter_rows(o, F32, rows, 2, gradient, 16));
  else REFUSED(paddle_update_parameter_rows(o, F32, rows, 2, gradient, 16));
  EXPECT(same(before, save(o)) != taken);
  DONE(paddle_update_parameter(o, F32, gradient, 16));
  DONE(paddle_release_optimizer(o));
}

void gradients(void) {
  with_policy(0, PADDLE_OPTIMIZER_OK, 0);
  with_policy(1, PADDLE_OPTIMIZER_NOT_FINITE, 0);
  with_policy(2, PADDLE_OPTIMIZER_OK, 2);
  for (unsigned optimizer = 1; optimizer <= 13; ++optimizer)
    rows_of(optimizer, optimizer != 8 && optimizer != 9 && optimizer != 11); /* Lamb, Lars, Dpsgd: dense only */

  const config_message config = sgd_config(); /* without row_width the first call with rows decides */
  paddle_optimizer* o = make(&config, 6);
  const float gradient[6] = {1, 1, 1, 1, 1, 1};
  const int64_t rows[3] = {2, 0, 2};
  DONE(paddle_update_parameter_rows(o, F32, rows, 3, gradient, 24));
  REFUSED(paddle_update_parameter_rows(o, F32, rows + 1, 1, gradient, 12));
  const float* values = paddle_optimizer_param(o, NULL);
  EXPECT(values[0] == 0.5f && values[2] == 1 && values[4] == 0);
  DONE(paddle_release_optimizer(o));
}

/* A parameter of no elements is a parameter. */
static void empty(unsigned optimizer) {
  config_message config = config_of(optimizer), average = {.size = 0};
  put_message(&config, 108, &average);
  paddle_optimizer* o = paddle_create_optimizer(config.bytes, config.size, F32, NULL, 0, NULL, 0);
  size_t size = 9;
  float none;
  EXPECT(o && paddle_optimizer_param(o, &size) != NULL && size == 0);
  DONE(paddle_update_parameter(o, F32, NULL, 0));
  DONE(paddle_update_parameter(o, F32, &none, 0));
  DONE(paddle_apply_delta(o, F32, NULL, 0, 1));
  DONE(paddle_optimizer_average(o, 0, F32, NULL, 0));
  REFUSED(paddle_update_parameter(o, F32, &none, 4));
  saved state = save(o);
  paddle_optimizer* again = paddle_create_optimizer(config.bytes, config.size, F32, NULL, 0, state.bytes, state.size);
  EXPECT(again && same(state, save(again)));
  DONE(paddle_release_optimizer(o));
  DONE(paddle_release_optimizer(again));
}

static void one_element(unsigned optimizer) {
  const config_message config = config_of(optimizer);
  paddle_optimizer* o = make(&config, 1);
  float gradient = 1;
  for (int i = 0; i < 3; ++i) DONE(paddle_update_parameter(o, F32, &gradient, 4));
  const float* value = paddle_optimizer_param(o, NULL);
  EXPECT(optimizer == 11 || *value < 1); /* Dpsgd adds noise */
  DONE(paddle_release_optimizer(o));

  double wide = 1;
  o = paddle_create_optimizer(config.bytes, config.size, F64, &wide, 8, NULL, 0);
  REFUSED(paddle_update_parameter(o, F32, &gradient, 4));
  DONE(paddle_update_parameter(o, F64, &wide, 8));
  DONE(paddle_release_optimizer(o));
}

void small_parameters(void) {
  for (unsigned optimizer = 1; optimizer <= 13; ++optimizer) {
    empty(optimizer);
    one_element(optimizer);
  }
  config_message config = sgd_config();
  put_whole(&config, 107, 2);
  paddle_optimizer* table = make(&config, 4);
  saved before = save(table);
  DONE(paddle_optimizer_get_rows(table, F32, NULL, 0, NULL, 0));
  EXPECT(same(before, save(table)));
  DONE(paddle_update_parameter_rows(table, F32, NULL, 0, NULL, 0)); /* a step that names no row is a step */
  uint64_t updates = 0;
  DONE(paddle_optimizer_get_updates(table, &updates, NULL));
  EXPECT(updates == 1);
  DONE(paddle_release_optimizer(table));
}
