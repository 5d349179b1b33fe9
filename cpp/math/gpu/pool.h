// Pooling on a GPU: a thread computes one element of the result, or of the gradient from all windows that contain it.
#pragma once

#include <limits>

#include "math/for_each_index.h"
#include "math/number.h"
#include "math/pooled_axis.h"
#include "math/unravel_last.h"

namespace paddle_mini {

namespace pool_gpu {

// Volumes [outer, depth, height, width, inner], and their pooling windows.
struct Volumes {
  WindowAxis axes[3];
  bool adaptive, exclusive, max;
  int64_t outer, inner;

  Volumes(const VolumeAxes& all, bool adaptive, bool exclusive, bool max, int64_t outer, int64_t inner)
      : axes{all[0], all[1], all[2]}, adaptive(adaptive), exclusive(exclusive), max(max), outer(outer), inner(inner) {}

  int64_t elements() const { return outer * axes[0].size * axes[1].size * axes[2].size * inner; }
  int64_t outputs() const { return outer * axes[0].out * axes[1].out * axes[2].out * inner; }
  PM_DEVICE PooledRange range(int axis, int64_t o) const { return pooled_range(axes[axis], adaptive, o); }
  PM_DEVICE int64_t element(int64_t plane, int64_t z, int64_t y, int64_t x, int64_t channel) const {
    return (((plane * axes[0].size + z) * axes[1].size + y) * axes[2].size + x) * inner + channel;
  }
  PM_DEVICE int64_t output(int64_t plane, int64_t z, int64_t y, int64_t x, int64_t channel) const {
    return (((plane * axes[0].out + z) * axes[1].out + y) * axes[2].out + x) * inner + channel;
  }
  // The divisor of average pooling.
  template <class T>
  PM_DEVICE T count(const PooledRange& z, const PooledRange& y, const PooledRange& x) const {
    double all = static_cast<double>(exclusive ? z.end - z.begin : z.padded) *
                 static_cast<double>(exclusive ? y.end - y.begin : y.padded) *
                 static_cast<double>(exclusive ? x.end - x.begin : x.padded);
    return static_cast<T>(all < 1.0 ? 1.0 : all);
  }
  // A range of outputs [begin, end) that includes all whose windows contain position i.
  PM_DEVICE PooledRange seen_by(int axis, int64_t i) const {
    const WindowAxis& a = axes[axis];
    if (adaptive) return {i * a.out / a.size, ((i + 1) * a.out + a.size - 1) / a.size, 0};
    int64_t past = i + a.before - a.window;  // windows that begin here or earlier end before i
    int64_t begin = past < 0 ? 0 : past / a.stride + 1, end = (i + a.before) / a.stride + 1;
    return {begin, end < a.out ? end : a.out, 0};
  }
};

// Coordinates of element i in a tensor of volumes of these sizes.
struct Position {
  int64_t plane, z, y, x, channel;

  PM_DEVICE Position(int64_t i, int64_t depth, int64_t height, int64_t width, int64_t inner) {
    channel = inner == 1 ? 0 : unravel_last(i, inner);
    x = unravel_last(i, width);
    y = unravel_last(i, height);
    z = depth == 1 ? 0 : unravel_last(i, depth);
    plane = i;
  }
};

template <class T>
struct Forward : Volumes {
  const T* x;
  T* out;

  PM_DEVICE void operator()(int64_t o) const {
    Position at(o, axes[0].out, axes[1].out, axes[2].out, inner);
    PooledRange depth = range(0, at.z), height = range(1, at.y), width = range(2, at.x);
    T result = max ? std::numeric_limits<T>::lowest() : T(0);
    for (int64_t k = depth.begin; k < depth.end; ++k) {
      for (int64_t i = height.begin; i < height.end; ++i) {
        const T* from = x + element(at.plane, k, i, width.begin, at.channel);
        for (int64_t j = width.begin; j < width.end; ++j, from += inner) {
          result = max ? maximum(result, *from) : result + *from;
        }
      }
    }
    out[o] = max ? result : result / count<T>(depth, height, width);
  }
};

template <class T>
struct Backward : Volumes {
  const T *x, *out, *out_gradient;
  T* x_gradient;

  // Whether the element is the first maximum (or NaN) of the window, which receives the whole gradient.
  PM_DEVICE bool first_largest(int64_t mine, T best, const Position& at, const PooledRange& depth,
                               const PooledRange& height, const PooledRange& width) const {
    if (x[mine] != best && x[mine] == x[mine]) return false;
    for (int64_t k = depth.begin; k < depth.end; ++k) {
      for (int64_t i = height.begin; i < height.end; ++i) {
        for (int64_t j = width.begin; j < width.end; ++j) {
          int64_t other = element(at.plane, k, i, j, at.channel);
          if (other == mine) return true;
          if (x[other] == best || x[other] != x[other]) return false;
        }
      }
    }
    return false;
  }

  PM_DEVICE void operator()(int64_t mine) const {
    Position at(mine, axes[0].size, axes[1].size, axes[2].size, inner);
    PooledRange zs = seen_by(0, at.z), ys = seen_by(1, at.y), xs = seen_by(2, at.x);
    T total = 0;
    for (int64_t z = zs.begin; z < zs.end; ++z) {
      PooledRange depth = range(0, z);
      if (at.z < depth.begin || at.z >= depth.end) continue;
      for (int64_t y = ys.begin; y < ys.end; ++y) {
        PooledRange height = range(1, y);
        if (at.y < height.begin || at.y >= height.end) continue;
        for (int64_t w = xs.begin; w < xs.end; ++w) {
          PooledRange width = range(2, w);
          if (at.x < width.begin || at.x >= width.end) continue;
          int64_t o = output(at.plane, z, y, w, at.channel);
          if (!max) total += out_gradient[o] / count<T>(depth, height, width);
          else if (first_largest(mine, out[o], at, depth, height, width)) total += out_gradient[o];
        }
      }
    }
    x_gradient[mine] = total;
  }
};

}  // namespace pool_gpu

// Kernels of pooling; `volumes_of` computes the windows from the attributes and X's shape.
template <pool_gpu::Volumes (*volumes_of)(const KernelInit&, const Shape&)>
struct PoolKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    pool_gpu::Volumes volumes;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out"), volumes(volumes_of(init, x.shape())) {}
    void run(KernelContext& context) override {
      for_each_index(context, volumes.outputs(), pool_gpu::Forward<T>{volumes, x.data(), out.data()});
    }
  };
};

template <pool_gpu::Volumes (*volumes_of)(const KernelInit&, const Shape&)>
struct PoolGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, out, out_gradient;
    Out<T> x_gradient;
    pool_gpu::Volumes volumes;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
          volumes(volumes_of(init, x.shape())) {}
    void run(KernelContext& context) override {
      pool_gpu::Backward<T> body{volumes, x.data(), out.data(), out_gradient.data(), x_gradient.data()};
      for_each_index(context, volumes.elements(), body);
    }
  };
};

}  // namespace paddle_mini
