// bilinear_interp_v2: images of another size, each pixel a mixture of the four around its place in X
#include "core/target.h"
#include "core/widening.h"
#include "math/interpolate.h"

#ifdef PM_GPU
#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/take_last.h"
#endif

#include <algorithm>

namespace paddle_mini {
namespace {

// Where a row or column of the output lies between two of the input.
struct BilinearPlace {
  int64_t first, second;
  float to_first, to_second;  // the parts they have
};

PM_HD inline BilinearPlace bilinear_place(const InterpolatedAxis& axis, bool half_pixels, int64_t i) {
  float at = axis.ratio * static_cast<float>(i);
  if (half_pixels) {
    at = static_cast<float>(static_cast<double>(axis.ratio) * (static_cast<double>(i) + 0.5) - 0.5);
    at = std::max(at, 0.0f);
  }
  int64_t first = std::min(static_cast<int64_t>(at), axis.in - 1), second = std::min(first + 1, axis.in - 1);
  float part = at - static_cast<float>(first);
  return {first, second, 1.0f - part, part};
}

#ifdef PM_GPU
// Images as [outer, height, width, inner]; a thread computes one pixel of the result.
template <class T>
struct BilinearMixture {
  InterpolatedAxis height, width;
  int64_t inner;
  bool half_pixels;
  const T* x;
  T* out;

  PM_DEVICE void operator()(int64_t o) const {
    int64_t left = o, channel = take_last(left, inner), column = take_last(left, width.out);
    BilinearPlace h = bilinear_place(height, half_pixels, take_last(left, height.out));
    BilinearPlace w = bilinear_place(width, half_pixels, column);
    const T* from = x + left * height.in * width.in * inner + channel;
    T y1 = static_cast<T>(h.to_first), y2 = static_cast<T>(h.to_second);
    T x1 = static_cast<T>(w.to_first), x2 = static_cast<T>(w.to_second);
    out[o] = from[(h.first * width.in + w.first) * inner] * (y1 * x1) +
             from[(h.second * width.in + w.first) * inner] * (y2 * x1) +
             from[(h.first * width.in + w.second) * inner] * (y1 * x2) +
             from[(h.second * width.in + w.second) * inner] * (y2 * x2);
  }
};

// A thread sums up what one pixel of X gets from all pixels that it is part of.
template <class T>
struct BilinearShares {
  InterpolatedAxis height, width;
  int64_t inner;
  bool half_pixels;
  const T* out_gradient;
  T* x_gradient;

  // The first output that lies behind position i - 1; those that i is part of follow until one lies behind i.
  PM_DEVICE int64_t begin(const InterpolatedAxis& axis, int64_t i) const {
    int64_t low = 0, high = axis.out;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (bilinear_place(axis, half_pixels, middle).second < i) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, channel = take_last(left, inner), column = take_last(left, width.in);
    int64_t row = take_last(left, height.in), first_y = begin(height, row), first_x = begin(width, column);
    const T* from = out_gradient + left * height.out * width.out * inner + channel;
    T total = 0;
    for (int64_t y = first_y; y < height.out; ++y) {
      BilinearPlace h = bilinear_place(height, half_pixels, y);
      if (h.first > row) break;
      for (int64_t x = first_x; x < width.out; ++x) {
        BilinearPlace w = bilinear_place(width, half_pixels, x);
        if (w.first > column) break;
        T g = from[(y * width.out + x) * inner];
        T y1 = static_cast<T>(h.to_first), y2 = static_cast<T>(h.to_second);
        T x1 = static_cast<T>(w.to_first), x2 = static_cast<T>(w.to_second);
        if (h.first == row && w.first == column) total += g * (y1 * x1);
        if (h.second == row && w.first == column) total += g * (y2 * x1);
        if (h.first == row && w.second == column) total += g * (y1 * x2);
        if (h.second == row && w.second == column) total += g * (y2 * x2);
      }
    }
    x_gradient[i] = total;
  }
};

template <class T>
struct BilinearInterpKernel : Kernel {
  In<T> x;
  Out<T> out;
  InterpolatedImages images;

  explicit BilinearInterpKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), images(init, "X") {}
  void run(Device& device) override {
    if (images.same_size()) return copy_n(device, x.data(), x.numel(), out.data());
    BilinearMixture<T> mixture{images.height, images.width, images.inner, images.half_pixels, x.data(), out.data()};
    for_each_index(device, out.numel(), mixture);
  }
};

template <class T>
struct BilinearInterpGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  InterpolatedImages images;

  explicit BilinearInterpGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), images(init, "X") {}
  void run(Device& device) override {
    if (images.same_size()) return copy_n(device, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    BilinearShares<T> shares{images.height,      images.width,        images.inner,
                             images.half_pixels, out_gradient.data(), x_gradient.data()};
    for_each_index(device, x_gradient.numel(), shares);
  }
};
#else
std::vector<BilinearPlace> bilinear_places_of(const InterpolatedAxis& axis, bool half_pixels) {
  std::vector<BilinearPlace> places;
  for (int64_t i = 0; i < axis.out; ++i) places.push_back(bilinear_place(axis, half_pixels, i));
  return places;
}

// f(four offsets in the input, their weights, offset in the output)
template <class T>
class BilinearWalk {
 public:
  explicit BilinearWalk(const InterpolatedImages& images)
      : rows_(bilinear_places_of(images.height, images.half_pixels)),
        columns_(bilinear_places_of(images.width, images.half_pixels)), width_(images.width.in), inner_(images.inner) {}

  template <class F>
  void each(F f) const {
    int64_t out = 0;
    for (const BilinearPlace& y : rows_) {
      for (const BilinearPlace& x : columns_) {
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
  std::vector<BilinearPlace> rows_, columns_;
  int64_t width_, inner_;
};

template <class T>
struct BilinearInterpKernel : Kernel {
  In<T> x;
  Out<T> out;
  InterpolatedImages images;
  BilinearWalk<T> walk;

  explicit BilinearInterpKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), images(init, "X"), walk(images) {}

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
struct BilinearInterpGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  InterpolatedImages images;
  BilinearWalk<T> walk;

  explicit BilinearInterpGradKernel(KernelInit& init)
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
#endif

}  // namespace

void define_bilinear_interp_v2(OpTable& ops) {
  ops.add(
      also({DType::UInt8},
           interpolation("bilinear", 2)
               .doc("Images of another size: each pixel of Out lies somewhere in X, and is the mixture of the four "
                    "pixels around that place. Pixel i lies at i (in - 1) / (out - 1) with align_corners, else at "
                    "(i + 1/2) ratio - 1/2 (align_mode 0) or i ratio (align_mode 1), with ratio 1 / scale or in / out.")
               .on_gpu()
               .kernels<BilinearInterpKernel, float, double>()));
  ops.add(ops.gradient_of("bilinear_interp_v2")
              .doc("X@GRAD = the sum over the pixels of Out that a pixel is part of: Out@GRAD times its part.")
              .kernels<BilinearInterpGradKernel, float, double>());
}

}  // namespace paddle_mini
