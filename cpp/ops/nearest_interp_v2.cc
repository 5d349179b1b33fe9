// nearest_interp_v2: images of another size, each pixel the nearest one to its place in X
#include "core/target.h"
#include "math/interpolate.h"

#ifdef PM_GPU
#include "math/for_each_index.h"
#include "math/take_last.h"
#endif

#include <algorithm>

namespace paddle_mini {
namespace {

PM_HD inline int64_t nearest_place(const InterpolatedAxis& axis, bool round, int64_t i) {
  double at = static_cast<double>(axis.ratio * static_cast<float>(i)) + (round ? 0.5 : 0.0);
  return std::min(static_cast<int64_t>(at), axis.in - 1);
}

#ifdef PM_GPU
// Images as [outer, depth, height, width, inner]; a thread computes one pixel of the result.
template <class T>
struct NearestPixel {
  InterpolatedAxis depth, height, width;
  int64_t inner;
  bool round;
  const T* x;
  T* out;

  PM_DEVICE void operator()(int64_t o) const {
    int64_t left = o, channel = take_last(left, inner), column = take_last(left, width.out);
    int64_t row = nearest_place(height, round, take_last(left, height.out));
    int64_t plane = nearest_place(depth, round, take_last(left, depth.out));
    int64_t line = (left * depth.in + plane) * height.in + row;
    out[o] = x[(line * width.in + nearest_place(width, round, column)) * inner + channel];
  }
};

// A thread sums up the gradients of what one pixel of X became.
template <class T>
struct NearestShares {
  InterpolatedAxis depth, height, width;
  int64_t inner;
  bool round;
  const T* out_gradient;
  T* x_gradient;

  // The first output that lies at position i or behind it.
  PM_DEVICE int64_t begin(const InterpolatedAxis& axis, int64_t i) const {
    int64_t low = 0, high = axis.out;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (nearest_place(axis, round, middle) < i) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, channel = take_last(left, inner), column = take_last(left, width.in);
    int64_t row = take_last(left, height.in), first_y = begin(height, row), first_x = begin(width, column);
    int64_t plane = take_last(left, depth.in), first_z = begin(depth, plane);
    T total = 0;
    for (int64_t z = first_z; z < depth.out && nearest_place(depth, round, z) == plane; ++z) {
      for (int64_t y = first_y; y < height.out && nearest_place(height, round, y) == row; ++y) {
        for (int64_t x = first_x; x < width.out && nearest_place(width, round, x) == column; ++x) {
          total += out_gradient[(((left * depth.out + z) * height.out + y) * width.out + x) * inner + channel];
        }
      }
    }
    x_gradient[i] = total;
  }
};

template <class T>
struct NearestKernel : Kernel {
  In<T> x;
  Out<T> out;
  InterpolatedImages images;

  explicit NearestKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), images(init, "X") {}
  void run(Device& device) override {
    NearestPixel<T> pixel{images.depth,         images.height, images.width, images.inner,
                          images.align_corners, x.data(),      out.data()};
    for_each_index(device, out.numel(), pixel);
  }
};

template <class T>
struct NearestGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  InterpolatedImages images;

  explicit NearestGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), images(init, "X") {}
  void run(Device& device) override {
    NearestShares<T> shares{images.depth,         images.height,       images.width,     images.inner,
                            images.align_corners, out_gradient.data(), x_gradient.data()};
    for_each_index(device, x_gradient.numel(), shares);
  }
};
#else
std::vector<int64_t> nearest_places_of(const InterpolatedAxis& axis, bool round) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < axis.out; ++i) places.push_back(nearest_place(axis, round, i));
  return places;
}

// Which pixel of X each pixel of Out is.
struct NearestPlaces {
  InterpolatedImages images;
  std::vector<int64_t> planes, rows, columns;

  explicit NearestPlaces(const KernelInit& init)
      : images(init, "X"), planes(nearest_places_of(images.depth, images.align_corners)),
        rows(nearest_places_of(images.height, images.align_corners)),
        columns(nearest_places_of(images.width, images.align_corners)) {}

  // f(pixel of x, pixel of out), of `inner` elements each
  template <class X, class T, class F>
  void each(X* x, T* out, F f) const {
    images.each_block(x, out, [&](X* in, T* to) {
      for (int64_t plane : planes) {
        for (int64_t row : rows) {
          X* line = in + (plane * images.height.in + row) * images.width.in * images.inner;
          for (int64_t column : columns) {
            f(line + column * images.inner, to);
            to += images.inner;
          }
        }
      }
    });
  }
};

template <class T>
struct NearestKernel : Kernel {
  In<T> x;
  Out<T> out;
  NearestPlaces places;

  explicit NearestKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), places(init) {}
  void run(Device&) override {
    places.each(x.data(), out.data(), [n = places.images.inner](const T* from, T* to) { std::copy_n(from, n, to); });
  }
};

template <class T>
struct NearestGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  NearestPlaces places;

  explicit NearestGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), places(init) {}
  void run(Device&) override {
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    places.each(x_gradient.data(), out_gradient.data(), [n = places.images.inner](T* to, const T* from) {
      for (int64_t i = 0; i < n; ++i) to[i] += from[i];
    });
  }
};
#endif

}  // namespace

void define_nearest_interp_v2(OpTable& ops) {
  ops.add(interpolation("nearest", 3)
              .doc("Images of another size: pixel i of Out is the pixel of X at i (in - 1) / (out - 1) + 1/2 with "
                   "align_corners, else at i ratio, rounded down, with ratio 1 / scale or in / out.")
              .on_gpu()
              .kernels<NearestKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("nearest_interp_v2")
              .doc("X@GRAD = the sum of Out@GRAD over the pixels of Out that a pixel became.")
              .kernels<NearestGradKernel, float, double>());
}

}  // namespace paddle_mini
