// bilinear_interp_v2: images of another size, each pixel a mixture of the four around its place in X
#include "math/interpolate.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// Where a row or column of the output lies between two of the input.
struct Place {
  int64_t first, second;
  float to_first, to_second;  // the parts they have
};

std::vector<Place> places_of(const InterpolatedAxis& axis, bool half_pixels) {
  std::vector<Place> places;
  for (int64_t i = 0; i < axis.out; ++i) {
    float at = axis.ratio * static_cast<float>(i);
    if (half_pixels) {
      at = static_cast<float>(static_cast<double>(axis.ratio) * (static_cast<double>(i) + 0.5) - 0.5);
      at = std::max(at, 0.0f);
    }
    int64_t first = std::min(static_cast<int64_t>(at), axis.in - 1), second = std::min(first + 1, axis.in - 1);
    float part = at - static_cast<float>(first);
    places.push_back({first, second, 1.0f - part, part});
  }
  return places;
}

// f(four offsets in the input, their weights, offset in the output)
template <class T>
class Walk {
 public:
  explicit Walk(const InterpolatedImages& images)
      : rows_(places_of(images.height, images.half_pixels)), columns_(places_of(images.width, images.half_pixels)),
        width_(images.width.in), inner_(images.inner) {}

  template <class F>
  void each(F f) const {
    int64_t out = 0;
    for (const Place& y : rows_) {
      for (const Place& x : columns_) {
        const int64_t at[4] = {(y.first * width_ + x.first) * inner_, (y.second * width_ + x.first) * inner_,
                               (y.first * width_ + x.second) * inner_, (y.second * width_ + x.second) * inner_};
        T y1 = static_cast<T>(y.to_first), y2 = static_cast<T>(y.to_second);
        T x1 = static_cast<T>(x.to_first), x2 = static_cast<T>(x.to_second);
        const T weights[4] = {y1 * x1, y2 * x1, y1 * x2, y2 * x2};
        f(at, weights, out);
        out += inner_;
      }
    }
  }

 private:
  std::vector<Place> rows_, columns_;
  int64_t width_, inner_;
};

template <class T>
struct BilinearKernel : Kernel {
  In<T> x;
  Out<T> out;
  InterpolatedImages images;
  Walk<T> walk;

  explicit BilinearKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), images(init, "X"), walk(images) {}

  void run(Device&) override {
    if (images.same_size()) {
      std::copy_n(x.data(), x.numel(), out.data());
      return;
    }
    images.each_block(x.data(), out.data(), [&](const T* from, T* to) {
      walk.each([&](const int64_t* at, const T* weight, int64_t o) {
        for (int64_t i = 0; i < images.inner; ++i) {
          to[o + i] = from[at[0] + i] * weight[0] + from[at[1] + i] * weight[1] + from[at[2] + i] * weight[2] +
                      from[at[3] + i] * weight[3];
        }
      });
    });
  }
};

template <class T>
struct BilinearGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  InterpolatedImages images;
  Walk<T> walk;

  explicit BilinearGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), images(init, "X"), walk(images) {}

  void run(Device&) override {
    if (images.same_size()) {
      std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
      return;
    }
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    images.each_block(x_gradient.data(), out_gradient.data(), [&](T* to, const T* from) {
      walk.each([&](const int64_t* at, const T* weight, int64_t o) {
        for (int corner = 0; corner < 4; ++corner) {
          for (int64_t i = 0; i < images.inner; ++i) to[at[corner] + i] += from[o + i] * weight[corner];
        }
      });
    });
  }
};

}  // namespace

void define_bilinear_interp_v2(OpTable& ops) {
  ops.add(interpolation("bilinear")
              .doc("Images of another size: each pixel of Out lies somewhere in X, and is the mixture of the four "
                   "pixels around that place. Pixel i lies at i (in - 1) / (out - 1) with align_corners, else at "
                   "(i + 1/2) ratio - 1/2 (align_mode 0) or i ratio (align_mode 1), with ratio 1 / scale or in / out.")
              .kernels<BilinearKernel, float, double>());
  ops.add(interpolation_gradient("bilinear")
              .doc("X@GRAD = the sum over the pixels of Out that a pixel is part of: Out@GRAD times its part.")
              .kernels<BilinearGradKernel, float, double>());
}

}  // namespace paddle_mini
