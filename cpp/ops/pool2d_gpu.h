// The kernels of pool2d on a GPU.
#pragma once

#include "math/gpu/pool.h"

namespace paddle_mini {
namespace {

// An image is treated as a volume of depth 1.
pool_gpu::Volumes pool2d_volumes_of(const KernelInit& init, const Shape& x) {
  auto [height, width] = pooled_axes<2>(init, {x[2], x[3]});
  return {VolumeAxes{WindowAxis(), height, width},
          is_adaptive_pooling(init),
          init.attr<bool>("exclusive"),
          init.attr<std::string>("pooling_type") == "max",
          x[0] * x[1],
          1};
}

template <class T>
using Pool2dKernel = PoolKernel<pool2d_volumes_of>::For<T>;
template <class T>
using Pool2dGradKernel = PoolGradKernel<pool2d_volumes_of>::For<T>;

}  // namespace
}  // namespace paddle_mini
