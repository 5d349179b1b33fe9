// How fast the threads of OMP_NUM_THREADS move memory: kernels as in McCalpin's STREAM (1995), served like a runtime (worker.py).
//
//   triad   a = b + 3 c   3 arrays named, 4 moved: a store first reads its cache line ("write-allocate")
//   update  a = a + 3 b   3 moved
//   copy    a = b         3 moved
//   read    the sum of a, b and c   3 moved
//
// Arrays have as many floats as the optimizers' parameters. Prints seconds and moved gigabytes in all.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static const size_t count = 32000000;
static float *a, *b, *c;

static float* array(void) {
  size_t bytes = (count * sizeof(float) + ((size_t)1 << 21)) >> 21 << 21;
  float* made = aligned_alloc((size_t)1 << 21, bytes);
  if (!made) exit(1);
  madvise(made, bytes, MADV_HUGEPAGE);  // as fast as this machine can
#pragma omp parallel for
  for (size_t i = 0; i < count; ++i) made[i] = 1.0f;
  return made;
}

static int triad(void) {
#pragma omp parallel for
  for (size_t i = 0; i < count; ++i) a[i] = b[i] + 3.0f * c[i];
  return 4;
}

static int update(void) {
#pragma omp parallel for
  for (size_t i = 0; i < count; ++i) a[i] = a[i] + 1e-3f * b[i];
  return 3;
}

static int copy(void) {
#pragma omp parallel for
  for (size_t i = 0; i < count; ++i) a[i] = b[i];
  return 3;
}

static int sum(void) {
  typedef float Lanes
      __attribute__((vector_size(64)));  // as wide as a vector register, so that adding is never the limit
  float total = 0;
#pragma omp parallel for reduction(+ : total)
  for (size_t i = 0; i < count; i += 64) {
    Lanes sums = {0};
    for (size_t at = i; at < i + 64; at += 16) sums += *(Lanes*)(a + at) + *(Lanes*)(b + at) + *(Lanes*)(c + at);
    total += sums[0];
    __asm__ volatile("" : : "v"(sums));
  }
  __asm__ volatile("" : : "m"(total));
  return 3;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
  char word[16], argument[16];
  int (*kernel)(void) = triad;
  while (scanf("%15s %15s", word, argument) == 2) {
    if (!strcmp(word, "prepare")) {
      if (!a) a = array(), b = array(), c = array();
      kernel = !strcmp(argument, "update") ? update
               : !strcmp(argument, "copy") ? copy
               : !strcmp(argument, "read") ? sum
                                           : triad;
      puts("ok");
    } else {
      double begin = now(), moved = 0;
      for (int step = atoi(argument); step > 0; --step) {
        moved += (double)(sizeof(float) * count) * kernel();
        __asm__ volatile("" ::: "memory");
      }
      printf("ok %.9g %.9g\n", now() - begin, moved / 1e9);
    }
    fflush(stdout);
  }
  return 0;
}
