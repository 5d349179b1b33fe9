// Functors whose numbers lie in tensors, such as a learning rate.
#pragma once

#include <type_traits>
#include <utility>

#include "core/target.h"

namespace paddle_mini {

template <class F, class = void>
inline constexpr bool has_ready = false;
template <class F>
inline constexpr bool has_ready<F, std::void_t<decltype(std::declval<const F&>().ready())>> = true;

// What a launcher calls: f.ready() where there is one, which reads the numbers and works out what all elements share;
// once before the loop on a CPU, once in each thread on a GPU.
template <class F>
PM_HD auto ready(const F& f) {
  if constexpr (has_ready<F>) return f.ready();
  else return f;
}

}  // namespace paddle_mini
