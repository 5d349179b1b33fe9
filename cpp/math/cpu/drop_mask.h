// Masks of dropout on a CPU.
#pragma once

#include <optional>

#include "math/random.h"
namespace paddle_mini {

inline void fill_mask(KernelContext& context, const std::optional<IndexIn>& seed_tensor, int64_t seed,
                      float probability, uint8_t* keep, int64_t n) {
  with_generator(context, seed_tensor ? (*seed_tensor)[0] : seed,
                 [&](std::mt19937_64& generator) { draw_mask(generator, probability, keep, n); });
}

}  // namespace paddle_mini
