// How many floating-point operations a second one thread reaches in tiles: tdpbf16ps with operands that are in registers,
// served like a runtime (worker.py). The result is the CPU seconds of an operation of 16 x 16 x 32 multiply-adds.
#define _GNU_SOURCE
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((target("amx-tile,amx-bf16"))) static void multiply(int count) {
  struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } sizes = {.palette = 1};
  for (int i = 0; i < 8; ++i) sizes.row_bytes[i] = 64, sizes.rows[i] = 16;
  __asm__ volatile("" ::: "memory");
  _tile_loadconfig(&sizes);
  for (int i = 0; i < count; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
  enum { kCount = 50000, kRequest = 0x1023, kTileData = 18 };
  if (syscall(SYS_arch_prctl, kRequest, kTileData) != 0) return 1;
  char word[16], workload[256];
  while (scanf("%15s %255s", word, workload) == 2) {
    if (!strcmp(word, "prepare")) {
      puts("ok");
    } else {
      double begin = now();
      multiply(kCount);
      double seconds = now() - begin;
      printf("ok %.9g %.9g\n", seconds, seconds / (4.0 * kCount));
    }
    fflush(stdout);
  }
  return 0;
}
