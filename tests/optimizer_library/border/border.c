/* border.c: asks the C library what it does with mistakes: border NAME [DIVISOR]. Exit status 1: something is wrong. */
#include "border.h"

static int failures;
int divisor = 1;

void failed(const char* file, int line, const char* what) {
  if (++failures > 20) return; /* one mistake in a loop is not to hide others */
  fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", file, line, what, paddle_optimizer_last_error());
}

config_message config_of(unsigned optimizer) {
  config_message rate = {.size = 0}, config = {.size = 0};
  put_double(&rate, 1, 0.5);
  put_whole(&config, 1, optimizer);
  put_message(&config, 12, &rate);
  return config;
}

config_message sgd_config(void) { return config_of(1); }

config_message full_config(void) {
  config_message adam = {.size = 0}, segment = {.size = 0}, manual = {.size = 0}, average = {.size = 0};
  config_message config = {.size = 0};
  put_double(&adam, 41, 0.8);
  put_double(&adam, 43, 1e-6);
  put_double(&adam, 44, 0.01);
  put_double(&segment, 1, 2);
  put_double(&segment, 2, 0.5);
  put_double(&manual, 1, 0.1);
  put_message(&manual, 2, &segment);
  segment.size = 0;
  put_double(&segment, 1, 4);
  put_double(&segment, 2, 0.25);
  put_message(&manual, 2, &segment);
  put_whole(&average, 1, 4);
  put_double(&average, 5, 0.9);
  put_whole(&config, 1, 4);
  put_message(&config, 6, &adam);
  put_whole(&config, 11, 6);
  put_message(&config, 18, &manual);
  put_double(&config, 23, 2);
  put_double(&config, 102, 10);
  put_double(&config, 103, 1e-3);
  put_double(&config, 104, 1e-2);
  put_whole(&config, 105, 1);
  put_whole(&config, 106, 1); /* LikeZeros: lazily, rows that decay can't have averages */
  put_whole(&config, 107, 2);
  put_message(&config, 108, &average);
  average.size = 0;
  put_whole(&average, 12, 2); /* a window of every second update */
  put_message(&config, 108, &average);
  return config;
}

paddle_optimizer* make(const config_message* config, size_t count) {
  float* ones = malloc(count * sizeof(float) + 1);
  for (size_t i = 0; i < count; ++i) ones[i] = 1;
  paddle_optimizer* made =
      paddle_create_optimizer(config->bytes, config->size, F32, ones, count * sizeof(float), NULL, 0);
  free(ones);
  EXPECT(made != NULL);
  return made;
}

unsigned random_below(unsigned end) {
  static uint64_t state = 88172645463325252u; /* Marsaglia 2003 */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 33) % end;
}

saved save(const paddle_optimizer* o) {
  saved made = {NULL, 0};
  DONE(paddle_optimizer_get_state(o, &made.bytes, &made.size));
  return made;
}

int same(saved a, saved b) {
  int equal = a.size == b.size && a.size > 0 && memcmp(a.bytes, b.bytes, a.size) == 0;
  paddle_optimizer_free_state(a.bytes);
  paddle_optimizer_free_state(b.bytes);
  return equal;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*ask)(void);
  } all[] = {{"arguments", arguments},
             {"gradients", gradients},
             {"small_parameters", small_parameters},
             {"handles", handles},
             {"configurations", configurations},
             {"states", states},
             {"threads", threads},
             {"forks", forks},
             {"endurance", endurance}};
  if (argc > 2) divisor = atoi(argv[2]);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    if (argc > 1 && strcmp(argv[1], all[i].name) == 0) {
      all[i].ask();
      return failures ? 1 : 0;
    }
  }
  fprintf(stderr, "border NAME [DIVISOR]\n");
  return 2;
}
