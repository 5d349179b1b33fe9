// nearest_interp_v2: images of another size, each pixel the nearest one to its place in X
#include "math/interpolate.h"

#include <algorithm>

namespace paddle_mini {
namespace {

std::vector<int64_t> places_of(const InterpolatedAxis& axis, bool round) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < axis.out; ++i) {
    double at = static_cast<double>(axis.ratio * static_cast<float>(i)) + (round ? 0.5 : 0.0);
    places.push_back(std::min(static_cast<int64_t>(at), axis.in - 1));
  }
  return places;
}

template <class T>
struct NearestKernel : Kernel {
  In<T> x;
  Out<T> out;
  InterpolatedImages images;
  std::vector<int64_t> rows, columns;

  explicit NearestKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), images(init, "X"), rows(places_of(images.height, images.align_corners)),
        columns(places_of(images.width, images.align_corners)) {}

  void run(Device&) override {
    images.each_block(x.data(), out.data(), [&](const T* from, T* to) {
      for (int64_t row : rows) {
        for (int64_t column : columns) {
          std::copy_n(from + (row * images.width.in + column) * images.inner, images.inner, to);
          to += images.inner;
        }
      }
    });
  }
};

template <class T>
struct NearestGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  InterpolatedImages images;
  std::vector<int64_t> rows, columns;

  explicit NearestGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), images(init, "X"),
        rows(places_of(images.height, images.align_corners)), columns(places_of(images.width, images.align_corners)) {}

  void run(Device&) override {
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    images.each_block(x_gradient.data(), out_gradient.data(), [&](T* to, const T* from) {
      for (int64_t row : rows) {
        for (int64_t column : columns) {
          T* sum = to + (row * images.width.in + column) * images.inner;
          for (int64_t i = 0; i < images.inner; ++i) sum[i] += from[i];
          from += images.inner;
        }
      }
    });
  }
};

}  // namespace

void define_nearest_interp_v2(OpTable& ops) {
  ops.add(interpolation("nearest")
              .doc("Images of another size: pixel i of Out is the pixel of X at i (in - 1) / (out - 1) + 1/2 with "
                   "align_corners, else at i ratio, rounded down, with ratio 1 / scale or in / out.")
              .kernels<NearestKernel, float, double, int32_t, int64_t>());
  ops.add(interpolation_gradient("nearest")
              .doc("X@GRAD = the sum of Out@GRAD over the pixels of Out that a pixel became.")
              .kernels<NearestGradKernel, float, double>());
}

}  // namespace paddle_mini
