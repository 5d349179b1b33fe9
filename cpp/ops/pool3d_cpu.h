// The kernels of pool3d on a CPU.
#pragma once

#include <limits>

#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "math/vec.h"

namespace paddle_mini {
namespace {

// With channels last, neighbouring pixels are `inner` numbers apart, one for each channel.
struct Pooling3d {
  VolumeLayout layout;
  PooledVolume volume;
  int64_t outer, inner, size;
  bool exclusive, max;

  Pooling3d(const KernelInit& init, const Shape& x)
      : layout(x, init.attr<std::string>("data_format")),
        volume(pooled_axes(init, layout.sizes), is_adaptive_pooling(init)),
        outer(layout.images * (layout.channels_last ? 1 : layout.channels)),
        inner(layout.channels_last ? layout.channels : 1), size(layout.sizes[0] * layout.sizes[1] * layout.sizes[2]),
        exclusive(init.attr<bool>("exclusive")), max(init.attr<std::string>("pooling_type") == "max") {}

  // Calls f(offset of the volume's first element in X, the same in Out) for each volume.
  template <class F>
  void each_plane(KernelContext& context, F f) const {
    const int64_t outputs = volume.outputs();
    each_item(context, {outer * inner, static_cast<double>(size + outputs)}, [&](int64_t plane) {
      int64_t o = plane / inner, i = plane % inner;
      f(o * size * inner + i, o * outputs * inner + i);
    });
  }
  // Calls f(offset of an element in its volume) for each element until f returns true.
  template <class F>
  void each_element(const PooledRange& z, const PooledRange& y, const PooledRange& x, F f) const {
    for (int64_t k = z.begin; k < z.end; ++k) {
      for (int64_t i = y.begin; i < y.end; ++i) {
        for (int64_t j = x.begin; j < x.end; ++j) {
          if (f(((k * layout.sizes[1] + i) * layout.sizes[2] + j) * inner)) return;
        }
      }
    }
  }
  // The divisor that turns the sum over a window into its mean. A double: an integer could overflow.
  double count(const PooledRange& z, const PooledRange& y, const PooledRange& x) const {
    auto size = [this](const PooledRange& range) {
      return static_cast<double>(exclusive ? range.end - range.begin : range.padded);
    };
    return std::max(size(z) * size(y) * size(x), 1.0);
  }
};

template <class T>
struct Pool3dKernel : Kernel {
  In<T> x;
  Out<T> out;
  Pooling3d pooling;

  explicit Pool3dKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), pooling(init, x.shape()) {}

  void run(KernelContext& context) override {
    pooling.each_plane(context, [this](int64_t from, int64_t to) {
      pooling.volume.each_window([&](const auto& d, const auto& h, const auto& w, int64_t at) {
        T result = pooling.max ? std::numeric_limits<T>::lowest() : T(0);
        pooling.each_element(d, h, w, [&](int64_t element) {
          T value = x[from + element];
          result = pooling.max ? maximum(result, value) : result + value;
          return false;
        });
        if (!pooling.max) result /= static_cast<T>(pooling.count(d, h, w));
        out[to + at * pooling.inner] = result;
      });
    });
  }
};

template <class T>
struct Pool3dGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Pooling3d pooling;

  explicit Pool3dGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        pooling(init, x.shape()) {}

  void run(KernelContext& context) override {
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    pooling.each_plane(context, [this](int64_t to, int64_t from) {
      pooling.volume.each_window([&](const auto& d, const auto& h, const auto& w, int64_t at) {
        int64_t o = from + at * pooling.inner;
        T share = out_gradient[o];
        if (!pooling.max) share /= static_cast<T>(pooling.count(d, h, w));
        pooling.each_element(d, h, w, [&](int64_t element) {
          T value = x[to + element];
          if (pooling.max && value != out[o] && value == value) return false;
          x_gradient[to + element] += share;
          return pooling.max;
        });
      });
    });
  }
};

}  // namespace
}  // namespace paddle_mini
