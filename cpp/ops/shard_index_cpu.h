// The kernels of shard_index on a CPU.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void ShardIndexKernel<T>::run(KernelContext& context) {
  int64_t n = x.numel();
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] < 0 || x[i] >= index_num) refuse_index(x[i], i);
  }
  each_item(context, {n, 10}, [&](int64_t i) {  // two divisions
    int64_t index = x[i];
    out[i] = index / shard_size == shard_id ? static_cast<T>(index % shard_size) : ignore_value;
  });
}

}  // namespace
}  // namespace paddle_mini
