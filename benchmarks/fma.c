// How many floating-point operations a second the threads of OMP_NUM_THREADS reach: independent multiply-adds in registers,
// served like a runtime (worker.py). Prints seconds and operations in all.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef __AVX512F__
enum { kLanes = 16, kSums = 24 };
#else
enum { kLanes = 8, kSums = 12 };
#endif
typedef float Register __attribute__((vector_size(4 * kLanes)));

static volatile float sink;

static void multiply_add(int count, float start) {
  Register sums[kSums], factor, addend;
  for (int lane = 0; lane < kLanes; ++lane) factor[lane] = 0.999f * start, addend[lane] = 1e-3f;
#pragma GCC unroll 24
  for (int i = 0; i < kSums; ++i) sums[i] = addend * (float)i;
  for (int n = 0; n < count; ++n) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) {
      sums[i] = sums[i] * factor + addend;
      __asm__("" : "+v"(sums[i]));
    }
  }
  Register total = sums[0];
#pragma GCC unroll 24
  for (int i = 1; i < kSums; ++i) total += sums[i];
  sink = total[0];
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
  enum { kCount = 200000 };
  char word[64];
  int steps;
  while (scanf("%63s", word) == 1) {
    if (!strcmp(word, "prepare")) {
      if (scanf("%63s", word) != 1) return 1;
      puts("ok");
    } else {
      if (scanf("%d", &steps) != 1) return 1;
      double begin = now(), flops = 0;
      for (int i = 0; i < steps; ++i) {
#pragma omp parallel reduction(+ : flops)
        {
          multiply_add(kCount, 1.0f);
          flops += 2.0 * kCount * kSums * kLanes;
        }
      }
      printf("ok %.9g %.9g\n", now() - begin, flops);
    }
    fflush(stdout);
  }
  return 0;
}
