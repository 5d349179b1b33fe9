// each_item: loops over items that no launcher describes, such as the lines of a tensor or sequences, on several threads.
#pragma once

#include "core/parallel.h"

namespace paddle_mini {

// Calls f(i), or f(i, lane), for each item.
template <class F>
void each_item(KernelContext& context, const LoopSize& size, F f) {
  parallel_for(context, size, [&f](int64_t begin, int64_t end, int lane) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_invocable_v<F&, int64_t, int>) f(i, lane);
      else f(i);
    }
  });
}

// The same for items whose own loops parallel_for can split: fewer long items than threads run one after another.
template <class F>
void each_long_item(KernelContext& context, LoopSize size, F f) {
  if (size.items < context.threads && size.cost >= context.least_loop) size.cost = 0;
  each_item(context, size, f);
}

}  // namespace paddle_mini
