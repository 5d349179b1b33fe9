// Random numbers. With a seed of its own an operator draws the same numbers in every run, and those
// that PaddlePaddle draws: both use the standard library's 64-bit Mersenne Twister and distributions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>

#include "core/interruption.h"
#include "core/kernel.h"

#include PM_LAUNCHERS(random)

namespace paddle_mini {

// fill(generator) with a generator that starts from `seed`; with the device's when `seed` is 0.
template <class F>
void with_generator(KernelContext& context, int64_t seed, F fill) {
  require_not_recorded(context);
  if (seed == 0) {
    fill(context.generator);
    return;
  }
  std::mt19937_64 own(static_cast<uint64_t>(seed));
  fill(own);
}

// to[i] = draw() for n elements, in order; the user may stop it.
template <class T, class Draw>
void generate(T* to, int64_t n, Draw draw) {
  in_slices(n, 4 * sizeof(T), [&](int64_t begin, int64_t end) { std::generate(to + begin, to + end, std::ref(draw)); });
}

}  // namespace paddle_mini
