// Numbers of elements taken apart into places along axes, the last axis first.
#pragma once

#include <cstdint>

#include "core/target.h"

namespace paddle_mini {

// The place along an axis of `size`; `left` becomes the number among what comes before. 32 bits divide several times
// faster on a GPU.
PM_HD inline int64_t unravel_last(int64_t& left, int64_t size) {
  bool small = left <= static_cast<int64_t>(UINT32_MAX) && size <= static_cast<int64_t>(UINT32_MAX);
  int64_t rest = small ? static_cast<uint32_t>(left) / static_cast<uint32_t>(size) : left / size;
  int64_t at = left - rest * size;
  left = rest;
  return at;
}

}  // namespace paddle_mini
