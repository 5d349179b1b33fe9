// The order of elements along a line.
#pragma once

#include <cstdint>

#include "core/target.h"

namespace paddle_mini {

// Whether the element at a precedes that at b. NaN is larger than every number; among equal elements the lower index
// comes first.
template <class T>
struct ComesBefore {
  const T* line;
  int64_t step;
  bool largest;

  PM_HD bool operator()(int64_t a, int64_t b) const {
    T x = line[a * step], y = line[b * step];
    if (less(x, y)) return !largest;
    if (less(y, x)) return largest;
    return a < b;
  }
  PM_HD static bool less(T x, T y) { return x < y || (y != y && x == x); }
};

}  // namespace paddle_mini
