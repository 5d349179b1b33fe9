// Random masks of dropout, and their application.
//   void fill_mask(KernelContext&, const std::optional<IndexIn>& seed_tensor, int64_t seed, float probability,
//                  uint8_t* keep, int64_t n)
//     keep[i] = 0 with this probability, otherwise 1. The seed in the tensor overrides the other; 0: not fixed.
#pragma once

#include <optional>

#include "math/random.h"

namespace paddle_mini {

// Draws one number in [0, 1) for each element, which is dropped if the number is below the probability. The same seed
// keeps the same elements as in PaddlePaddle.
inline void draw_mask(std::mt19937_64& generator, float probability, uint8_t* keep, int64_t n) {
  std::uniform_real_distribution<float> uniform(0, 1);
  for (int64_t i = 0; i < n; ++i) keep[i] = !(uniform(generator) < probability);
}

template <class T>
struct ApplyMask {
  T factor;
  PM_HD T operator()(T v, uint8_t keep) const { return keep ? v * factor : T(0); }
};

}  // namespace paddle_mini

#include PM_LAUNCHERS(drop_mask)
