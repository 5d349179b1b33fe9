// The kernels of max_pool2d_with_index on a CPU.
#pragma once

#include "math/copy.h"

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <int rank>
struct MaxPoolWithIndex {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Out<int32_t> mask;
    Planes<rank> planes;
    PooledVolume volume;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), mask(init, "Mask"), planes(x.shape()),
          volume(max_pool_axes_of<rank>(init, planes.sizes), is_adaptive_pooling(init)) {}

    void run(KernelContext& context) override {
      each_item(context, {planes.count, static_cast<double>(planes.size() + volume.outputs())}, [&](int64_t p) {
        const T* plane = x.data() + p * planes.size();
        int64_t to = p * volume.outputs();
        volume.each_window([&](const auto& z, const auto& y, const auto& w, int64_t at) {
          int64_t found = largest(plane, z, y, w);
          out[to + at] = found < 0 ? std::numeric_limits<T>::lowest() : plane[found];
          mask[to + at] = static_cast<int32_t>(found);
        });
      });
    }

    // The first maximum, or the first NaN; -1 if the window contains only padding.
    int64_t largest(const T* plane, const PooledRange& z, const PooledRange& y, const PooledRange& w) const {
      int64_t found = -1;
      for (int64_t k = z.begin; k < z.end; ++k) {
        for (int64_t i = y.begin; i < y.end; ++i) {
          for (int64_t j = w.begin; j < w.end; ++j) {
            int64_t at = (k * planes.sizes[1] + i) * planes.sizes[2] + j;
            if (plane[at] != plane[at]) return at;
            if (found < 0 || plane[found] < plane[at]) found = at;
          }
        }
      }
      return found;
    }
  };
};

template <int rank>
template <class T>
void MaxPoolWithIndexGrad<rank>::For<T>::run(KernelContext& context) {
  int64_t size = planes.size(), outputs = planes.count ? mask.numel() / planes.count : 0;
  for (int64_t i = 0; i < mask.numel(); ++i) {
    if (mask[i] < -1 || mask[i] >= size) refuse({0, mask[i], i});
  }
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  each_item(context, {planes.count, 2 * static_cast<double>(outputs)}, [&](int64_t p) {
    for (int64_t i = p * outputs; i < (p + 1) * outputs; ++i) {
      if (mask[i] >= 0) x_gradient[p * size + mask[i]] += out_gradient[i];
    }
  });
}

}  // namespace
}  // namespace paddle_mini
