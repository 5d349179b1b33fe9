/* endurance.c: memory stays what it was over a million updates and 10^5 objects. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "border.h"

enum { COUNT = 16 };

static long resident_kilobytes(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void one_life(const config_message* config) {
  const float gradient[COUNT] = {1};
  const int64_t rows[3] = {5, 0, 5};
  paddle_optimizer* o = make(config, COUNT);
  DONE(paddle_update_parameter(o, F32, gradient, sizeof gradient));
  DONE(paddle_update_parameter_rows(o, F32, rows, 3, gradient, 24));
  REFUSED(paddle_update_parameter(o, F32, gradient, 4));
  saved state = save(o);
  paddle_optimizer* again =
      paddle_create_optimizer(config->bytes, config->size, F32, NULL, sizeof gradient, state.bytes, state.size);
  EXPECT(again != NULL);
  DONE(paddle_release_optimizer(again));
  REFUSED_OBJECT(paddle_create_optimizer(config->bytes, config->size, F32, NULL, 4, state.bytes, state.size));
  REFUSED_OBJECT(paddle_create_optimizer(config->bytes, config->size - 1, F32, gradient, 64, NULL, 0));
  paddle_optimizer_free_state(state.bytes);
  DONE(paddle_release_optimizer(o));
}

static void lives(const config_message* config, int count) {
  for (int i = 0; i < count / divisor; ++i) one_life(config);
}

static void updates(paddle_optimizer* o, int count) {
  float gradient[COUNT] = {1};
  for (int i = 0; i < count / divisor; ++i) {
    gradient[i % COUNT] = (float)(i % 5) - 2;
    DONE(paddle_update_parameter(o, F32, gradient, sizeof gradient));
  }
}

void endurance(void) {
  const config_message config = full_config();
  paddle_optimizer* o = make(&config, COUNT);
  lives(&config, 1000);
  updates(o, 1000);
  long before = resident_kilobytes();
  lives(&config, 50000); /* two objects each */
  updates(o, 1000000);
  long grown = resident_kilobytes() - before;
  if (divisor == 1 && grown > 256) fprintf(stderr, "memory grew by %ld KB\n", grown);
  EXPECT(divisor > 1 || grown <= 256); /* checkers of memory keep some themselves, and ask for a divisor */
  DONE(paddle_release_optimizer(o));
}
