/* threads.h: what programs of several threads share. */
#ifndef THREADS_H_
#define THREADS_H_

#include "calls.h"

#include <pthread.h>

enum { MOST_THREADS = 64 };

int failures;
void failed(const char* file, int line, const char* what) {
  fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", file, line, what, pm_last_error());
  __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

/* Calls f with the numbers 0, 1, 2 ..., each in a thread of its own. */
static inline void in_threads(int count, void* (*f)(void*)) {
  pthread_t threads[MOST_THREADS];
  for (int i = 0; i < count; ++i) EXPECT(pthread_create(&threads[i], NULL, f, (void*)(size_t)i) == 0);
  for (int i = 0; i < count; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
}

#endif
