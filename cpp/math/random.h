// Random number generation. An operator with its own seed draws the same numbers in every run, equal to PaddlePaddle's:
// both use the standard library's 64-bit Mersenne Twister and distributions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>

#include "core/parallel.h"

#include PM_LAUNCHERS(random)

namespace paddle_mini {

// Calls fill(generator) with a new generator seeded by `seed`, or with the context's generator if `seed` is 0.
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

// to[i] = draw() for n elements, in order; interruptible.
template <class T, class Draw>
void generate(KernelContext& context, T* to, int64_t n, Draw draw) {
  constexpr double kDrawCost = 8;  // nanoseconds
  const LoopSize size{n, kDrawCost, 1, 1};  // one lane, because each draw changes the generator
  parallel_for(context, size, [&](int64_t begin, int64_t end) { std::generate(to + begin, to + end, std::ref(draw)); });
}

}  // namespace paddle_mini
