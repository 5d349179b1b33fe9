// Conversion of arrays on a CPU.
#pragma once

#include <type_traits>

#include "math/cast.h"
#include "math/convert_element.h"
#include "math/copy.h"
#include "math/cpu/half_conversion.h"

namespace paddle_mini {

template <class From, class To>
void convert_range(int64_t n, const From* from, To* to) {
  if constexpr (is_half<From> && std::is_same_v<To, float>) to_floats(n, from, to);
  else if constexpr (is_half<To> && std::is_same_v<From, float>) from_floats(n, from, to);
  else
    for (int64_t i = 0; i < n; ++i) to[i] = convert_element<To>(from[i]);
}

template <class From, class To>
void cast_elements(KernelContext& context, int64_t n, const void* from, void* to) {
  const From* in = static_cast<const From*>(from);
  To* out = static_cast<To*>(to);
  if constexpr (std::is_same_v<From, To>) {
    if (from != to) copy_n(context, in, n, out);
  } else {
    parallel_for(context, {n, bytes_cost(sizeof(From) + sizeof(To)), 256},
                 [&](int64_t begin, int64_t end) { convert_range(end - begin, in + begin, out + begin); });
  }
}

}  // namespace paddle_mini
