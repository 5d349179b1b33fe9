/* arguments.c: NULLs, sizes, types and addresses that are wrong are refused, and change nothing. */
#include "border.h"

static void of_create(void) {
  const config_message config = sgd_config();
  float one = 1;
  const unsigned char* bytes = config.bytes;
  REFUSED_OBJECT(paddle_create_optimizer(NULL, 0, F32, &one, 4, NULL, 0));
  REFUSED_OBJECT(paddle_create_optimizer(NULL, 10, F32, &one, 4, NULL, 0));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, (size_t)-1, F32, &one, 4, NULL, 0));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F32, NULL, 4, NULL, 0));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F32, &one, 3, NULL, 0));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F64, &one, 4, NULL, 0));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F32, &one, 4, NULL, 10));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F32, &one, 4, &one, 0));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F32, &one, 4, &one, (size_t)-1));
  for (size_t size = (size_t)-1; size > (size_t)-64; --size)
    REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F32, &one, size, NULL, 0));
  REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, F64, &one, (size_t)1 << 63, NULL, 0));
  for (size_t size = (size_t)1 << 62; size > (size_t)1 << 55; size >>= 1)
    EXPECT(!paddle_create_optimizer(bytes, config.size, F64, &one, size, NULL, 0) &&
           paddle_optimizer_last_status() == PADDLE_OPTIMIZER_NO_MEMORY);
  static const int types[] = {0, 1, 2, 3, 6, 99, -1};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    REFUSED_OBJECT(paddle_create_optimizer(bytes, config.size, (paddle_element_type)types[i], &one, 4, NULL, 0));
}

static void copies(void) {
  const config_message config = sgd_config();
  char* bytes = malloc(config.size + 1);
  char* values = malloc(9);
  const float numbers[2] = {3, 4};
  memcpy(bytes + 1, config.bytes, config.size);
  memcpy(values + 1, numbers, 8);
  paddle_optimizer* a = paddle_create_optimizer(bytes + 1, config.size, F32, values + 1, 8, NULL, 0);
  paddle_optimizer* b = paddle_create_optimizer(bytes + 1, config.size, F32, values + 1, 8, NULL, 0);
  free(bytes);
  free(values);
  const float gradient[2] = {2, 2};
  DONE(paddle_update_parameter(a, F32, gradient, 8));
  size_t size = 0;
  const float* first = paddle_optimizer_param(a, &size);
  EXPECT(size == 8 && first && first[0] == 2 && first[1] == 3);
  const float* second = paddle_optimizer_param(b, NULL);
  EXPECT(second && second[0] == 3 && second[1] == 4);
  DONE(paddle_update_parameter(a, F32, gradient, 8));
  EXPECT(paddle_optimizer_param(a, NULL) == first && first[0] == 1);
  DONE(paddle_release_optimizer(a));
  DONE(paddle_release_optimizer(b));
}

static void of_updates(paddle_optimizer* o) {
  float storage[9] = {0};
  float* values = storage;
  const char* odd = (const char*)storage + 1;
  REFUSED(paddle_update_parameter(o, F32, NULL, 32));
  REFUSED(paddle_update_parameter(o, F32, values, 28));
  REFUSED(paddle_update_parameter(o, F32, values, 0));
  REFUSED(paddle_update_parameter(o, F32, values, (size_t)-1));
  REFUSED(paddle_update_parameter(o, F64, values, 32));
  REFUSED(paddle_update_parameter(o, (paddle_element_type)99, values, 32));
  REFUSED(paddle_update_parameter(o, F32, odd, 32));
  const float* own = paddle_optimizer_param(o, NULL);
  REFUSED(paddle_update_parameter(o, F32, own, 32));
  REFUSED(paddle_apply_delta(o, F32, own, 32, 1));
  REFUSED(paddle_apply_delta(o, F32, NULL, 32, 1));
  REFUSED(paddle_apply_delta(o, F32, values, 31, 1));
  REFUSED(paddle_apply_delta(o, F64, values, 32, 1));
  REFUSED(paddle_apply_delta(o, F32, odd, 32, 1));
  REFUSED(paddle_optimizer_set_learning_rate(o, -1));
  REFUSED(paddle_optimizer_set_learning_rate(o, strtod("nan", NULL)));
  REFUSED(paddle_optimizer_set_learning_rate(o, strtod("inf", NULL)));
}

/* A table of four rows of two. */
static void of_rows(paddle_optimizer* o) {
  static const int64_t wrong[] = {-1, 4, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
  int64_t rows[3] = {0, 1, 0};
  float values[4] = {0};
  REFUSED(paddle_update_parameter_rows(o, F32, NULL, 2, values, 16));
  REFUSED(paddle_update_parameter_rows(o, F32, rows, 2, NULL, 16));
  REFUSED(paddle_update_parameter_rows(o, F32, rows, 2, values, 12));
  REFUSED(paddle_update_parameter_rows(o, F32, rows, 1, values, 16));
  REFUSED(paddle_update_parameter_rows(o, F32, rows, 0, values, 16));
  REFUSED(paddle_update_parameter_rows(o, F64, rows, 1, values, 16));
  REFUSED(paddle_update_parameter_rows(o, F32, (const int64_t*)(const void*)((const char*)rows + 1), 2, values, 16));
  REFUSED(paddle_update_parameter_rows(o, F32, rows, 1, (const char*)values + 1, 8));
  REFUSED(paddle_optimizer_get_rows(o, F32, rows, 2, NULL, 16));
  REFUSED(paddle_optimizer_get_rows(o, F32, NULL, 2, values, 16));
  REFUSED(paddle_optimizer_get_rows(o, F64, rows, 1, values, 16));
  REFUSED(paddle_optimizer_get_rows(o, F32, rows, 2, values, 8));
  for (size_t count = (size_t)-1; count > 2; count /= 2) {
    REFUSED(paddle_update_parameter_rows(o, F32, rows, count, values, 8));
    REFUSED(paddle_optimizer_get_rows(o, F32, rows, count, values, 8));
    if (count <= (size_t)-1 / 8) continue; /* so many rows may be there, as far as anybody can know */
    REFUSED(paddle_update_parameter_rows(o, F32, rows, count, values, 8 * count));
    REFUSED(paddle_optimizer_get_rows(o, F32, rows, count, values, 8 * count));
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    rows[1] = wrong[i];
    REFUSED(paddle_update_parameter_rows(o, F32, rows, 2, values, 16));
    REFUSED(paddle_optimizer_get_rows(o, F32, rows, 2, values, 16));
  }
}

static void of_getters(paddle_optimizer* o) {
  float values[9];
  const void* state = NULL;
  size_t size = 0;
  REFUSED(paddle_optimizer_get_state(o, NULL, &size));
  REFUSED(paddle_optimizer_get_state(o, &state, NULL));
  EXPECT(state == NULL && size == 0);
  REFUSED(paddle_optimizer_get_learning_rate(o, NULL));
  DONE(paddle_optimizer_get_updates(o, NULL, NULL));
  REFUSED(paddle_optimizer_average(o, 2, F32, values, 32));
  REFUSED(paddle_optimizer_average(o, (size_t)-1, F32, values, 32));
  REFUSED(paddle_optimizer_average(o, 0, F32, NULL, 32));
  REFUSED(paddle_optimizer_average(o, 0, F32, values, 36));
  REFUSED(paddle_optimizer_average(o, 0, F64, values, 32));
}

void arguments(void) {
  EXPECT(paddle_optimizer_version() == PADDLE_OPTIMIZER_VERSION);
  EXPECT(paddle_optimizer_last_error()[0] == '\0' && paddle_optimizer_last_status() == PADDLE_OPTIMIZER_OK);
  EXPECT(paddle_optimizer_processor_level()[0] != '\0');
  of_create();
  copies();
  const config_message config = full_config();
  paddle_optimizer* o = make(&config, 8);
  saved before = save(o);
  of_updates(o);
  of_rows(o);
  of_getters(o);
  EXPECT(same(before, save(o)));
  DONE(paddle_release_optimizer(o));
}
