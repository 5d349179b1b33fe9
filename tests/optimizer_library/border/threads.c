/* threads.c: many threads with one object and with their own, and processes that fork meanwhile. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "border.h"

enum { THREADS = 16, COUNT = 1024 };

static paddle_optimizer* shared;
static float gradient[COUNT];
static int stop;

/* How many updates were made. */
static void* update_shared(void* done) {
  for (int i = 0; i < 2000 / divisor; ++i) {
    int status = paddle_update_parameter(shared, F32, gradient, sizeof gradient);
    EXPECT(status == PADDLE_OPTIMIZER_OK || status == PADDLE_OPTIMIZER_BUSY);
    *(uint64_t*)done += status == PADDLE_OPTIMIZER_OK;
  }
  return NULL;
}

static void* own_object(void* result) {
  const config_message config = full_config();
  paddle_optimizer* o = make(&config, COUNT);
  for (int i = 0; i < 500 / divisor; ++i) DONE(paddle_update_parameter(o, F32, gradient, sizeof gradient));
  *(saved*)result = save(o);
  DONE(paddle_release_optimizer(o));
  return NULL;
}

static void* many_objects(void* unused) {
  const config_message config = sgd_config();
  for (int i = 0; i < 2000 / divisor && !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++i) {
    paddle_optimizer *a = make(&config, 16), *b = make(&config, 16);
    DONE(paddle_update_parameter(a, F32, gradient, 64));
    DONE(paddle_release_optimizer(a));
    REFUSED(paddle_update_parameter(a, F32, gradient, 64));
    EXPECT(*(const float*)paddle_optimizer_param(b, NULL) == 1);
    DONE(paddle_release_optimizer(b));
  }
  return unused;
}

/* A message belongs to the thread whose call failed. */
static void* own_message(void* number) {
  char expected[32];
  size_t bytes = 8 + 4 * *(size_t*)number;
  EXPECT(paddle_optimizer_last_error()[0] == '\0');
  snprintf(expected, sizeof expected, " %zu ", bytes);
  for (int i = 0; i < 2000 / divisor; ++i) {
    int status = paddle_update_parameter(shared, F32, gradient, bytes);
    if (status != PADDLE_OPTIMIZER_BUSY) EXPECT(status != 0 && strstr(paddle_optimizer_last_error(), expected));
  }
  return NULL;
}

static void* release(void* unused) {
  int status;
  while ((status = paddle_release_optimizer(shared)) == PADDLE_OPTIMIZER_BUSY) sched_yield();
  EXPECT(status == PADDLE_OPTIMIZER_OK);
  return unused;
}

static void* update_until_released(void* unused) {
  int status;
  do {
    sched_yield(); /* lets the other one in, where threads take turns */
    status = paddle_update_parameter(shared, F32, gradient, sizeof gradient);
  } while (status == PADDLE_OPTIMIZER_OK || status == PADDLE_OPTIMIZER_BUSY);
  EXPECT(status == PADDLE_OPTIMIZER_ERROR);
  return unused;
}

static void in_threads(void* (*run)(void*), void* arguments, size_t size) {
  pthread_t all[THREADS];
  char* argument = arguments;
  for (int i = 0; i < THREADS; ++i, argument += size) EXPECT(pthread_create(&all[i], NULL, run, argument) == 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(all[i], NULL);
}

void threads(void) {
  const config_message config = sgd_config();
  uint64_t done[THREADS] = {0}, sum = 0, updates = 0;
  size_t numbers[THREADS];
  saved results[THREADS];
  for (int i = 0; i < COUNT; ++i) gradient[i] = (float)(i % 7) - 3;
  shared = make(&config, COUNT);
  in_threads(update_shared, done, sizeof *done);
  DONE(paddle_optimizer_get_updates(shared, &updates, NULL));
  for (int i = 0; i < THREADS; ++i) sum += done[i], numbers[i] = (size_t)i;
  EXPECT(updates == sum && sum > 0);
  const float* values = paddle_optimizer_param(shared, NULL);
  for (int i = 0; i < COUNT; ++i) EXPECT(values[i] == 1 - 0.5f * gradient[i] * (float)sum);

  in_threads(own_message, numbers, sizeof *numbers);
  in_threads(own_object, results, sizeof *results);
  for (int i = 1; i < THREADS; ++i)
    EXPECT(results[i].size == results[0].size && memcmp(results[i].bytes, results[0].bytes, results[0].size) == 0);
  for (int i = 0; i < THREADS; ++i) paddle_optimizer_free_state(results[i].bytes);
  in_threads(many_objects, NULL, 0);

  pthread_t releasing, updating; /* released by a thread that did not make it, amid updates */
  pthread_create(&updating, NULL, update_until_released, NULL);
  pthread_create(&releasing, NULL, release, NULL);
  pthread_join(releasing, NULL);
  pthread_join(updating, NULL);
  REFUSED(paddle_release_optimizer(shared));
}

/* In a child of fork(): the parent's object is a copy, and new ones can be made. */
static int child(paddle_optimizer* o) {
  const config_message config = sgd_config();
  const float* value = paddle_optimizer_param(o, NULL);
  float before = *value, slope = 2;
  if (paddle_update_parameter(o, F32, &slope, 4) || *value != before - 1) return 1;
  paddle_optimizer* made = make(&config, 3);
  if (!made || paddle_release_optimizer(made) || paddle_release_optimizer(o)) return 1;
  return 0;
}

static void fork_once(paddle_optimizer* o) {
  int status = -1;
  fflush(NULL);
  pid_t started = fork();
  if (started == 0) {
    alarm(60); /* a lock that another thread held would never be free */
    _exit(child(o));
  }
  EXPECT(started > 0 && waitpid(started, &status, 0) == started);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void forks(void) {
  const config_message config = sgd_config();
  paddle_optimizer* o = make(&config, 1);
  float slope = 2;
  DONE(paddle_update_parameter(o, F32, &slope, 4));
  fork_once(o);
  pthread_t all[3];
  for (int i = 0; i < 3; ++i) pthread_create(&all[i], NULL, many_objects, NULL);
  for (int i = 0; i < 200 / divisor; ++i) fork_once(o);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; ++i) pthread_join(all[i], NULL);
  EXPECT(*(const float*)paddle_optimizer_param(o, NULL) == 0);
  DONE(paddle_release_optimizer(o));
}
