// for_each_index on a CPU.
#pragma once

#include "core/parallel.h"

namespace paddle_mini {

template <class F>
void for_each_index(KernelContext& context, int64_t n, F f) {
  constexpr double kCost = 2;  // nanoseconds for a call: f is not known
  parallel_for(context, {n, kCost}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace paddle_mini
