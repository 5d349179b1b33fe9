// Functors whose numbers lie in tensors, such as a learning rate.
#pragma once

#include <type_traits>
#include <utility>

#include "core/target.h"

namespace paddle_mini {

template <class F, class = void>
inline constexpr bool binds_scalars = false;
template <class F>
inline constexpr bool binds_scalars<F, std::void_t<decltype(std::declval<const F&>().bind_scalars())>> = true;

// Launchers call this. It calls f.bind_scalars() if f has one, which reads the scalars and computes values shared by
// all elements: once before the loop on a CPU, once in each thread on a GPU.
template <class F>
PM_HD auto bind_scalars(const F& f) {
  if constexpr (binds_scalars<F>) return f.bind_scalars();
  else return f;
}

}  // namespace paddle_mini
