// Mixed precision: inputs that stay float32 beside an X of 16 bits, such as statistics and scales.
#pragma once

#include <initializer_list>

#include "core/infer.h"

namespace paddle_mini {

// Checks that those of the ports that are given are all of X's element type, or all float32 beside an X of 16 bits.
// Returns that type; X's if none is given.
inline DType require_wide_dtype(const InferContext& c, std::initializer_list<const char*> ports) {
  DType x = c.input("X").dtype;
  const char* first = nullptr;
  for (const char* port : ports) {
    if (!c.has_input(port)) continue;
    if (first) require_same_dtype(c, first, port);
    else first = port;
  }
  if (!first) return x;
  bool mixed = (x == DType::Float16 || x == DType::BFloat16) && c.input(first).dtype == DType::Float32;
  if (!mixed) require_same_dtype(c, "X", first);
  return c.input(first).dtype;
}

}  // namespace paddle_mini
