/* bytes.c: configurations and states that are cut, changed or no such thing never end the process. */
#include "border.h"

static const float ones[6] = {1, 1, 1, 1, 1, 1};

/* An object, if the bytes make one, is a whole one. */
static int usable(const void* config, size_t size, const void* state, size_t state_size) {
  paddle_optimizer* o = paddle_create_optimizer(config, size, F32, ones, sizeof ones, state, state_size);
  if (!o) {
    EXPECT(paddle_optimizer_last_error()[0] != '\0');
    return 0;
  }
  float average[6];
  int64_t rows[2] = {0, 2};
  paddle_update_parameter(o, F32, ones, sizeof ones);
  paddle_update_parameter_rows(o, F32, rows, 2, ones, 16);
  paddle_optimizer_average(o, 0, F32, average, sizeof average);
  EXPECT(paddle_optimizer_param(o, NULL) != NULL);
  saved whole = save(o);
  paddle_optimizer_free_state(whole.bytes);
  DONE(paddle_release_optimizer(o));
  return 1;
}

static void random_bytes(void) {
  unsigned char bytes[2048];
  for (int round = 0; round < 50000 / divisor; ++round) {
    size_t size = 1 + random_below(round % 10 ? 40 : sizeof bytes);
    for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)random_below(256);
    usable(bytes, size, NULL, 0);
  }
}

/* Every byte as every other. */
static void changed(const config_message* config) {
  unsigned char bytes[sizeof config->bytes];
  memcpy(bytes, config->bytes, config->size);
  for (size_t i = 0; i < config->size; ++i) {
    for (int change = 1; change < 256; change += divisor) {
      bytes[i] = (unsigned char)(config->bytes[i] ^ change);
      usable(bytes, config->size, NULL, 0);
    }
    bytes[i] = config->bytes[i];
  }
  EXPECT(usable(bytes, config->size, NULL, 0));
}

/* With a field after it that has this number and double. */
static int usable_with(unsigned field, double value) {
  config_message config = sgd_config();
  put_double(&config, field, value);
  return usable(config.bytes, config.size, NULL, 0);
}

static int usable_with_rate(double value) {
  config_message rate = {.size = 0}, config = {.size = 0};
  put_double(&rate, 1, value);
  put_message(&config, 12, &rate);
  return usable(config.bytes, config.size, NULL, 0);
}

static void meaning(void) {
  EXPECT(usable_with(104, 0.5)); /* l2_rate */
  EXPECT(!usable_with(104, strtod("nan", NULL)) && !usable_with(104, strtod("inf", NULL)) && !usable_with(104, -1));
  EXPECT(!usable_with(999, 1)); /* every field is obeyed or refused */
  EXPECT(!usable_with(109, 1));
  EXPECT(usable_with_rate(0) && usable_with_rate(1e-3));
  EXPECT(!usable_with_rate(strtod("nan", NULL)) && !usable_with_rate(-1) && !usable_with_rate(strtod("inf", NULL)));
  config_message config = config_of(100000);
  EXPECT(!usable(config.bytes, config.size, NULL, 0)); /* no optimizer has this number */
  config = config_of(4);
  EXPECT(usable(config.bytes, config.size, NULL, 0)); /* Adam with nothing said about it */
  config_message nothing = {.size = 0};
  put_message(&config, 5, &nothing);
  EXPECT(!usable(config.bytes, config.size, NULL, 0)); /* and what Adagrad would do */
  config = sgd_config();
  put_whole(&config, 107, 4);
  EXPECT(!usable(config.bytes, config.size, NULL, 0)); /* rows of 4 in 6 elements */
  config = sgd_config();
  put_whole(&config, 107, UINT64_MAX);
  EXPECT(!usable(config.bytes, config.size, NULL, 0));
}

static void large(void) {
  size_t size = (size_t)64 << 20;
  unsigned char* bytes = malloc(size);
  memset(bytes, 0xff, size);
  EXPECT(!usable(bytes, size, NULL, 0));
  EXPECT(!usable(bytes, 200000, NULL, 0));
  for (size_t i = 0; i + 2 <= 1 << 20; i += 2) { /* groups in groups */
    bytes[i] = 0xbb;
    bytes[i + 1] = 0x3e;
  }
  EXPECT(!usable(bytes, (size_t)1 << 20, NULL, 0));
  config_message config = sgd_config();
  memcpy(bytes, config.bytes, config.size);
  size_t used = config.size;
  for (int i = 0; i < 20000 / divisor; ++i) { /* as many averages */
    memcpy(bytes + used, "\xe2\x06", 3);
    used += 3;
  }
  usable(bytes, used, NULL, 0);
  free(bytes);
}

void configurations(void) {
  const config_message config = full_config(), plain = sgd_config();
  for (size_t size = 0; size < config.size; ++size) usable(config.bytes, size, NULL, 0);
  for (size_t size = 0; size < plain.size; ++size) EXPECT(!usable(plain.bytes, size, NULL, 0));
  random_bytes();
  changed(&config);
  changed(&plain);
  meaning();
  large();
}

static saved state_of(const config_message* config, size_t count, int steps) {
  paddle_optimizer* o = make(config, count);
  int64_t row = 1;
  for (int i = 0; i < steps; ++i) DONE(paddle_update_parameter(o, F32, ones, count * sizeof(float)));
  DONE(paddle_update_parameter_rows(o, F32, &row, 1, ones, 8));
  saved made = save(o);
  DONE(paddle_release_optimizer(o));
  return made;
}

static void damaged(const config_message* config, saved good) {
  unsigned char* bytes = malloc(good.size + 1);
  memcpy(bytes, good.bytes, good.size);
  bytes[good.size] = 0;
  for (size_t size = 0; size < good.size; ++size) EXPECT(!usable(config->bytes, config->size, bytes, size));
  EXPECT(!usable(config->bytes, config->size, bytes, good.size + 1));
  for (size_t i = 0; i < 8 * good.size; ++i) {
    bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    EXPECT(!usable(config->bytes, config->size, bytes, good.size));
    bytes[i / 8] ^= (unsigned char)(1 << i % 8);
  }
  EXPECT(usable(config->bytes, config->size, bytes, good.size));
  for (int round = 0; round < 20000 / divisor; ++round) {
    for (size_t i = 0; i < good.size; ++i) bytes[i] = (unsigned char)random_below(256);
    EXPECT(!usable(config->bytes, config->size, bytes, 1 + random_below((unsigned)good.size)));
  }
  free(bytes);
}

void states(void) {
  const config_message config = full_config(), plain = sgd_config();
  saved good = state_of(&config, 6, 3), other = state_of(&plain, 6, 3), shorter = state_of(&config, 4, 3);
  damaged(&config, good);
  EXPECT(!usable(config.bytes, config.size, other.bytes, other.size));
  EXPECT(!usable(plain.bytes, plain.size, good.bytes, good.size));
  EXPECT(!usable(config.bytes, config.size, shorter.bytes, shorter.size));
  const double wide[3] = {1, 1, 1};
  REFUSED_OBJECT(paddle_create_optimizer(config.bytes, config.size, F64, wide, sizeof wide, good.bytes, good.size));
  REFUSED_OBJECT(paddle_create_optimizer(config.bytes, config.size, F64, NULL, 48, good.bytes, good.size));

  char* odd = malloc(good.size + 1); /* any address will do, and no parameter is needed */
  memcpy(odd + 1, good.bytes, good.size);
  paddle_optimizer* o = paddle_create_optimizer(config.bytes, config.size, F32, NULL, sizeof ones, odd + 1, good.size);
  free(odd);
  EXPECT(o != NULL && same(good, save(o)));
  DONE(paddle_release_optimizer(o));
  paddle_optimizer_free_state(other.bytes);
  paddle_optimizer_free_state(shorter.bytes);
}
