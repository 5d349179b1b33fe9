// for_each_index on a GPU: a thread for each index.
#pragma once

#include "cuda/launch.h"

namespace paddle_mini {

namespace for_each_gpu {
template <class F>
struct Body {
  int64_t n;
  F f;
  PM_DEVICE void operator()() const {
    for (int64_t i = block_index() * kThreads + thread_index(); i < n; i += block_count() * kThreads) f(i);
  }
};
}  // namespace for_each_gpu

template <class F>
void for_each_index(KernelContext& context, int64_t n, F f) {
  launch(context, blocks_for(n), for_each_gpu::Body<F>{n, f});
}

}  // namespace paddle_mini
