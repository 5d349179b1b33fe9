// Random numbers. With a seed of its own an operator draws the same numbers in every run, and those
// that PaddlePaddle draws: both use the standard library's 64-bit Mersenne Twister and distributions.
#pragma once

#include <cstdint>
#include <random>

#include "core/kernel.h"

namespace paddle_mini {

// fill(generator) with a generator that starts from `seed`; with the device's when `seed` is 0.
template <class F>
void with_generator(Device& device, int64_t seed, F fill) {
  if (seed == 0) {
    fill(device.generator);
    return;
  }
  std::mt19937_64 own(static_cast<uint64_t>(seed));
  fill(own);
}

}  // namespace paddle_mini
