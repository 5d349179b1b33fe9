// The place of a pixel of Out between two pixels of X, by linear, bilinear and trilinear interpolation.
#pragma once

#include <algorithm>

#include "core/target.h"
#include "ops/family/interpolate.h"

namespace paddle_mini {

// The two rows or columns of the input between which a row or column of the output lies.
struct BilinearPlace {
  int64_t first, second;
  float to_first, to_second;  // their weights
};

PM_HD inline BilinearPlace bilinear_place(const InterpolatedAxis& axis, bool half_pixels, int64_t i) {
  float at = axis.ratio * static_cast<float>(i);
  if (half_pixels) {
    at = static_cast<float>(static_cast<double>(axis.ratio) * (static_cast<double>(i) + 0.5) - 0.5);
    at = std::max(at, 0.0f);
  }
  int64_t first = std::min(static_cast<int64_t>(at), axis.in - 1), second = std::min(first + 1, axis.in - 1);
  float part = at - static_cast<float>(first);
  return {first, second, 1.0f - part, part};
}

}  // namespace paddle_mini
