// unravel_last: converts a linear index to coordinates, the last axis first.
#pragma once

#include <cstdint>

#include "core/target.h"

namespace paddle_mini {

// Returns the coordinate along an axis of `size`; `left` becomes the linear index over the axes before it. 32-bit
// division is several times faster on a GPU.
PM_HD inline int64_t unravel_last(int64_t& left, int64_t size) {
  bool small = left <= static_cast<int64_t>(UINT32_MAX) && size <= static_cast<int64_t>(UINT32_MAX);
  int64_t rest = small ? static_cast<uint32_t>(left) / static_cast<uint32_t>(size) : left / size;
  int64_t at = left - rest * size;
  left = rest;
  return at;
}

}  // namespace paddle_mini
