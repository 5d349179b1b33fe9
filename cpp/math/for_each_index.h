// f(i) for every i below n, in any order: for what is no map.
#pragma once

#include "core/kernel.h"
#include "core/target.h"

#ifdef PM_GPU
#include "cuda/launch.h"
#endif

namespace paddle_mini {

#ifdef PM_GPU
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
#endif

template <class F>
void for_each_index(Device& device, int64_t n, F f) {
#ifdef PM_GPU
  launch(device, blocks_for(n), for_each_gpu::Body<F>{n, f});
#else
  (void)device;
  for (int64_t i = 0; i < n; ++i) f(i);
#endif
}

}  // namespace paddle_mini
