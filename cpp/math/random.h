// Random numbers. With a seed of its own an operator draws the same numbers in every run, and those
// that PaddlePaddle draws: both use the standard library's 64-bit Mersenne Twister and distributions.
#pragma once

#include <cstdint>
#include <random>

#include "core/kernel.h"

#ifdef PM_GPU
#include "cuda/copy.h"
#endif

namespace paddle_mini {

// fill(generator) with a generator that starts from `seed`; with the device's when `seed` is 0.
template <class F>
void with_generator(Device& device, int64_t seed, F fill) {
#ifdef PM_GPU
  require_not_recorded(device);
#endif
  if (seed == 0) {
    fill(device.generator);
    return;
  }
  std::mt19937_64 own(static_cast<uint64_t>(seed));
  fill(own);
}

// make(to) writes n elements on the host, which then are where `out` is: the same numbers on every device.
template <class T, class Make>
void make_on_host(Device& device, int64_t n, T* out, Make make) {
#ifdef PM_GPU
  std::vector<T> made(static_cast<size_t>(n));
  make(made.data());
  upload(device, made.data(), made.size() * sizeof(T), out);
#else
  (void)device;
  (void)n;
  make(out);
#endif
}

}  // namespace paddle_mini
