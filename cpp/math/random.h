// Random numbers. With a seed of its own an operator draws the same numbers in every run, and those
// that PaddlePaddle draws: both use the standard library's 64-bit Mersenne Twister and distributions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>

#include "core/interruption.h"
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

// to[i] = draw() for n elements, in order; the user may stop it.
template <class T, class Draw>
void generate(T* to, int64_t n, Draw draw) {
  in_slices(n, 4 * sizeof(T), [&](int64_t begin, int64_t end) { std::generate(to + begin, to + end, std::ref(draw)); });
}

}  // namespace paddle_mini
