/* allocations.c: the memory runs out at every single place; statuses say so, and nothing has changed. */
#include "../../allocator.h"
#include "border.h"

static int failures;
int divisor = 1;
void failed(const char* file, int line, const char* what) {
  long kept = allowed;
  allowed = -1;
  fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", file, line, what, paddle_optimizer_last_error());
  allowed = kept;
  ++failures;
}

enum { COUNT = 8 };
static const float ones[COUNT] = {1, 1, 1, 1, 1, 1, 1, 1};
static config_message config;

static paddle_optimizer* create(void) {
  return paddle_create_optimizer(config.bytes, config.size, F32, ones, sizeof ones, NULL, 0);
}

/* A configuration for rows that are caught up and for averages, in turn. */
static void configure(int which) {
  const config_message nothing = {.size = 0};
  config.size = 0;
  put_message(&config, 12, &nothing); /* const_lr */
  if (which == 0) put_double(&config, 104, 0.01);
  if (which == 1) put_message(&config, 108, &nothing);
  if (which == 2) put_whole(&config, 106, 1);
}

static int update(paddle_optimizer* o) { return paddle_update_parameter(o, F32, ones, sizeof ones); }
static int rows(paddle_optimizer* o) {
  static const int64_t named[3] = {3, 0, 3};
  return paddle_update_parameter_rows(o, F32, named, 3, ones, 24);
}
static int read_rows(paddle_optimizer* o) {
  static const int64_t named[2] = {1, 0};
  float values[4];
  return paddle_optimizer_get_rows(o, F32, named, 2, values, 16);
}
static int average(paddle_optimizer* o) {
  float values[COUNT];
  return paddle_optimizer_average(o, 0, F32, values, sizeof values);
}
static int read_state(paddle_optimizer* o) {
  saved state = {NULL, 0};
  int status = paddle_optimizer_get_state(o, &state.bytes, &state.size);
  if (status == PADDLE_OPTIMIZER_OK) paddle_optimizer_free_state(state.bytes);
  return status;
}

static saved save_now(paddle_optimizer* o) {
  saved made = {NULL, 0};
  EXPECT(paddle_optimizer_get_state(o, &made.bytes, &made.size) == PADDLE_OPTIMIZER_OK);
  return made;
}

/* `call` with memory for 0, 1, 2 … allocations, until that is enough. */
static void starve(int (*call)(paddle_optimizer*), paddle_optimizer* o, const char* name) {
  for (long n = 0, done = 0; !done && n < 1000; ++n) {
    saved before = save_now(o);
    allowed = n;
    int status = call(o);
    allowed = -1;
    done = status == PADDLE_OPTIMIZER_OK;
    if (done) {
      paddle_optimizer_free_state(before.bytes);
      continue;
    }
    EXPECT(status == PADDLE_OPTIMIZER_NO_MEMORY && paddle_optimizer_last_error()[0]);
    saved after = save_now(o);
    int equal = before.size == after.size && memcmp(before.bytes, after.bytes, before.size) == 0;
    if (!equal) fprintf(stderr, "%s changed the state, allocation %ld\n", name, n);
    EXPECT(equal);
    paddle_optimizer_free_state(before.bytes);
    paddle_optimizer_free_state(after.bytes);
  }
}

/* The first object of a process: definitions are loaded on the way, too. */
static paddle_optimizer* starved_create(void) {
  paddle_optimizer* made = NULL;
  for (long n = 0; !made && n < 100000; ++n) {
    allowed = n;
    made = create();
    allowed = -1;
    EXPECT(made || (paddle_optimizer_last_status() == PADDLE_OPTIMIZER_NO_MEMORY && paddle_optimizer_last_error()[0]));
  }
  EXPECT(made != NULL);
  return made;
}

int main(void) {
  for (int round = 0; round < 6; ++round) {
    once = round >= 3;
    configure(round % 3);
    paddle_optimizer* o = starved_create();
    if (!o) return 1;
    starve(read_state, o, "get_state");
    starve(round % 2 ? rows : update, o, "the first update");
    starve(rows, o, "update_parameter_rows");
    starve(read_rows, o, "get_rows");
    if (round % 3 == 1) starve(average, o, "average");
    starve(update, o, "update_parameter");
    EXPECT(paddle_optimizer_param(o, NULL) != NULL);
    EXPECT(paddle_release_optimizer(o) == PADDLE_OPTIMIZER_OK);
  }
  return failures ? 1 : 0;
}
