// The kernels of shard_index on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/report_fault.h"

namespace paddle_mini {
namespace {

template <class T>
struct ShardIndex {
  int64_t index_num, shard_size, shard_id;
  T ignore_value;
  const T* x;
  T* out;
  Fault* fault;
  unsigned long long step;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t index = x[i];
    if (index < 0 || index >= index_num) report_fault(fault, step, index, i);
    else out[i] = index / shard_size == shard_id ? static_cast<T>(index % shard_size) : ignore_value;
  }
};

template <class T>
void ShardIndexKernel<T>::run(KernelContext& context) {
  ShardIndex<T> body{index_num, shard_size, shard_id, ignore_value, x.data(), out.data(), context.fault, context.step};
  for_each_index(context, x.numel(), body);
}

}  // namespace
}  // namespace paddle_mini
