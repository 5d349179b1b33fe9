// The kernels of max_pool2d_with_index on a GPU.
#pragma once

#include "math/gpu/ids.h"
#include "math/gpu/pool.h"

namespace paddle_mini {
namespace {

template <class T>
struct LargestPlace : pool_gpu::Volumes {
  const T* x;
  T* out;
  int32_t* mask;

  // The first maximum, or the first NaN; -1 if the window contains only padding.
  PM_DEVICE void operator()(int64_t o) const {
    pool_gpu::Position at(o, axes[0].out, axes[1].out, axes[2].out, 1);
    PooledRange depth = range(0, at.z), height = range(1, at.y), width = range(2, at.x);
    const T* plane = x + element(at.plane, 0, 0, 0, 0);
    int64_t found = -1;
    bool nan = false;
    for (int64_t k = depth.begin; k < depth.end && !nan; ++k) {
      for (int64_t i = height.begin; i < height.end && !nan; ++i) {
        for (int64_t j = width.begin; j < width.end && !nan; ++j) {
          int64_t here = (k * axes[1].size + i) * axes[2].size + j;
          nan = plane[here] != plane[here];
          if (nan || found < 0 || plane[found] < plane[here]) found = here;
        }
      }
    }
    out[o] = found < 0 ? std::numeric_limits<T>::lowest() : plane[found];
    mask[o] = static_cast<int32_t>(found);
  }
};

template <int rank>
struct MaxPoolWithIndex {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Out<int32_t> mask;
    Planes<rank> planes;
    pool_gpu::Volumes volumes;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), mask(init, "Mask"), planes(x.shape()),
          volumes(max_pool_axes_of<rank>(init, planes.sizes), is_adaptive_pooling(init), true, true, planes.count, 1) {}
    void run(KernelContext& context) override {
      for_each_index(context, volumes.outputs(), LargestPlace<T>{volumes, x.data(), out.data(), mask.data()});
    }
  };
};

struct MaskedElement {
  const int32_t* mask;
  int64_t outputs, size;
  Refusal refuse;

  PM_DEVICE int64_t operator()(int64_t i) const {
    if (mask[i] >= 0 && mask[i] < size) return i / outputs * size + mask[i];
    if (mask[i] != -1) refuse(mask[i], i);
    return -1;
  }
};

template <int rank>
template <class T>
void MaxPoolWithIndexGrad<rank>::For<T>::run(KernelContext& context) {
  int64_t outputs = planes.count ? mask.numel() / planes.count : 1;
  by_element.sort(context, MaskedElement{mask.data(), outputs, planes.size(), Refusal(context)});
  by_element.template put<SegmentedScatter::Combine::Sum, T>(context, 1, x_gradient.numel(), 1, nullptr,
                                                             out_gradient.data(), x_gradient.data());
}

}  // namespace
}  // namespace paddle_mini
