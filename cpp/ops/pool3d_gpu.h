// The kernels of pool3d on a GPU.
#pragma once

#include "math/gpu/pool.h"

namespace paddle_mini {
namespace {

pool_gpu::Volumes pool3d_volumes_of(const KernelInit& init, const Shape& x) {
  VolumeLayout layout(x, init.attr<std::string>("data_format"));
  bool last = layout.channels_last;
  return {pooled_axes(init, layout.sizes),
          is_adaptive_pooling(init),
          init.attr<bool>("exclusive"),
          init.attr<std::string>("pooling_type") == "max",
          last ? layout.images : layout.images * layout.channels,
          last ? layout.channels : 1};
}

template <class T>
using Pool3dKernel = PoolKernel<pool3d_volumes_of>::For<T>;
template <class T>
using Pool3dGradKernel = PoolGradKernel<pool3d_volumes_of>::For<T>;

}  // namespace
}  // namespace paddle_mini
