// for_each_index on a CPU: a loop.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

template <class F>
void for_each_index(KernelContext&, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) f(i);
}

}  // namespace paddle_mini
