// The optimizers' C library, served like a runtime (worker.py): what is prepared is WHAT:OPTIMIZER:ELEMENTS[:NUMBER].
//
//   update    a dense update
//   threads   one on each of NUMBER objects, each on a thread of its own
//   control   as many threads that count in a register: what the machine gives to threads
//   rows      an update of NUMBER rows of 16, among ELEMENTS / 16
//   save      everything that the object keeps, as bytes
//   load      an object made of them
//
// The result is the parameter's first element, and for save and load the state's gigabytes.
#define _GNU_SOURCE
#include <paddle_optimizer.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "optimizer_config.h"

enum { WIDTH = 16, MOST_THREADS = 64, SETS = 16 };

typedef struct {
  const char* name;
  unsigned number, field; /* of the optimizer and of its message in OptimizerConfig */
  unsigned keys[3];
  double values[3];
} optimizer_kind;

static const optimizer_kind kinds[] = {
    {"sgd", 1, 3, {0}, {0}},          {"momentum", 1, 3, {21}, {0.9}}, {"adadelta", 2, 4, {0}, {0}},
    {"adagrad", 3, 5, {41}, {1e-10}}, {"adam", 4, 6, {0}, {0}},        {"adamw", 4, 6, {44}, {0.01}},
    {"adamax", 5, 31, {0}, {0}},      {"rmsprop", 6, 32, {0}, {0}},    {"ftrl", 7, 33, {1, 2}, {1e-3, 1e-3}},
    {"lamb", 8, 34, {0}, {0}},        {"lars", 9, 35, {0}, {0}},
};

static const optimizer_kind* kind;
static char what;
static size_t count, number;
static config_message config;
static paddle_optimizer* objects[MOST_THREADS];
static float* gradient;
static int64_t* rows;
static const void* state;
static size_t state_size;
static long steps;

/* In large pages, as fast as this machine can. */
static float* array(size_t elements) {
  size_t bytes = (elements * sizeof(float) + ((size_t)1 << 21)) >> 21 << 21;
  float* made = aligned_alloc((size_t)1 << 21, bytes);
  if (!made) exit(1);
  madvise(made, bytes, MADV_HUGEPAGE);
  return made;
}

static void configure(int average) {
  config_message rate = {.size = 0}, own = {.size = 0}, scheme = {.size = 0};
  config.size = 0;
  put_double(&rate, 1, 1e-3);
  for (int i = 0; i < 3 && kind->keys[i]; ++i) put_double(&own, kind->keys[i], kind->values[i]);
  put_whole(&config, 1, kind->number);
  put_message(&config, kind->field, &own);
  put_message(&config, 12, &rate);
  put_whole(&scheme, 1, 4);
  put_double(&scheme, 5, 0.999);
  if (average) put_message(&config, 108, &scheme);
}

static int create(paddle_optimizer** object, const void* from, size_t size) {
  for (size_t i = 0; i < count; ++i) gradient[i] = 1;
  *object = paddle_create_optimizer(config.bytes, config.size, PADDLE_ELEMENT_TYPE_FLOAT32, gradient,
                                    count * sizeof(float), from, size);
  return *object != NULL;
}

static void choose_rows(void) {
  uint64_t random = 88172645463325252u; /* Marsaglia 2003 */
  rows = malloc(SETS * number * sizeof *rows);
  for (size_t i = 0; i < SETS * number; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    rows[i] = (int64_t)(random % (count / WIDTH));
  }
}

static int prepare(char* words) {
  char* parts[4] = {words, NULL, NULL, "1"};
  for (int i = 1; i < 4 && (words = strchr(words, ':')); ++i) *words++ = '\0', parts[i] = words;
  if (!parts[2]) return 0;
  int average = strncmp(parts[1], "averaged_", 9) == 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(parts[1] + (average ? 9 : 0), kinds[i].name) == 0) kind = &kinds[i];
  what = parts[0][0];
  count = strtoul(parts[2], NULL, 10);
  number = strtoul(parts[3], NULL, 10);
  int in_threads = what == 't' || what == 'c';
  if (!kind || !count || (in_threads && number > MOST_THREADS)) return 0;
  gradient = array(what == 'r' && number * WIDTH > count ? number * WIDTH : count);
  configure(average);
  for (size_t i = 0; i < (in_threads ? number : 1); ++i)
    if (!create(&objects[i], NULL, 0)) return 0;
  for (size_t i = 0; i < count; ++i) gradient[i] = 0.01f;
  if (what == 'r') choose_rows();
  if (what == 'l') {
    if (paddle_update_parameter(*objects, PADDLE_ELEMENT_TYPE_FLOAT32, gradient, count * sizeof(float))) return 0;
    return paddle_optimizer_get_state(*objects, &state, &state_size) == PADDLE_OPTIMIZER_OK;
  }
  return 1;
}

static void* updates(void* object) {
  for (long step = 0; step < steps; ++step) {
    if (paddle_update_parameter(object, PADDLE_ELEMENT_TYPE_FLOAT32, gradient, count * sizeof(float))) return NULL;
  }
  return object;
}

static void* counts(void* object) {
  for (size_t i = 0, end = (size_t)steps * count; i < end; ++i) __asm__ volatile("" : "+r"(i));
  return object;
}

static int run_threads(void) {
  pthread_t all[MOST_THREADS];
  void* done;
  int good = 1;
  for (size_t i = 0; i < number; ++i) pthread_create(&all[i], NULL, what == 'c' ? counts : updates, objects[i]);
  for (size_t i = 0; i < number; ++i) pthread_join(all[i], &done), good = good && done;
  return good;
}

static int update_rows(void) {
  for (long step = 0; step < steps; ++step) {
    const int64_t* named = rows + (size_t)(step % SETS) * number;
    if (paddle_update_parameter_rows(*objects, PADDLE_ELEMENT_TYPE_FLOAT32, named, number, gradient,
                                     number * WIDTH * sizeof(float)))
      return 0;
  }
  return 1;
}

static int save(void) {
  for (long step = 0; step < steps; ++step) {
    if (paddle_optimizer_get_state(*objects, &state, &state_size)) return 0;
    paddle_optimizer_free_state(state);
  }
  return 1;
}

static int load(void) {
  for (long step = 0; step < steps; ++step) {
    paddle_release_optimizer(*objects);
    *objects = paddle_create_optimizer(config.bytes, config.size, PADDLE_ELEMENT_TYPE_FLOAT32, NULL,
                                       count * sizeof(float), state, state_size);
    if (!*objects) return 0;
  }
  return 1;
}

static int run(void) {
  switch (what) {
    case 't':
    case 'c': return run_threads();
    case 'r': return update_rows();
    case 's': return save();
    case 'l': return load();
    default: return updates(*objects) != NULL;
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
  char word[16], argument[64];
  while (scanf("%15s %63s", word, argument) == 2) {
    steps = atol(argument);
    double begin = now();
    int prepares = !strcmp(word, "prepare");
    if (!(prepares ? prepare(argument) : run())) {
      const char* why = paddle_optimizer_last_error();
      printf("error %s\n", *why ? why : "no such workload");
    } else if (prepares) {
      puts("ok");
    } else {
      double seconds = now() - begin;
      const float* values = paddle_optimizer_param(*objects, NULL);
      printf("ok %.9g %.9g\n", seconds, state_size ? (double)state_size / 1e9 : (double)values[0]);
    }
    fflush(stdout);
  }
  return 0;
}
