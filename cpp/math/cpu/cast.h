// Conversion of arrays on a CPU.
#pragma once

#include <cstring>
#include <type_traits>
#include "math/cast.h"
#include "math/convert_element.h"

namespace paddle_mini {

template <class From, class To>
void cast_elements(KernelContext&, int64_t n, const void* from, void* to) {
  const From* in = static_cast<const From*>(from);
  To* out = static_cast<To*>(to);
  if constexpr (std::is_same_v<From, To>) {
    if (from != to && n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(To));
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = convert_element<To>(in[i]);
  }
}

}  // namespace paddle_mini
