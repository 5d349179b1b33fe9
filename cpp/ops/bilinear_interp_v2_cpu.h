// CPU kernels of bilinear_interp_v2.
#pragma once

namespace paddle_mini {
namespace {

std::vector<BilinearPlace> bilinear_places_of(const InterpolatedAxis& axis, bool half_pixels) {
  std::vector<BilinearPlace> places;
  for (int64_t i = 0; i < axis.out; ++i) places.push_back(bilinear_place(axis, half_pixels, i));
  return places;
}

// Calls f(four offsets in the input, their weights, offset in the output) for each output pixel.
template <class T>
class BilinearIndexMap {
 public:
  explicit BilinearIndexMap(const InterpolatedImages& images)
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
  BilinearIndexMap<T> index_map;

  explicit BilinearInterpKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), images(init, "X"), index_map(images) {}

  void run(KernelContext&) override {
    if (images.same_size()) {
      std::copy_n(x.data(), x.numel(), out.data());
      return;
    }
    images.each_block(x.data(), out.data(), [&](const T* from, T* to) {
      index_map.each([&](const int64_t* at, const T* weight, int64_t o) {
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
  BilinearIndexMap<T> index_map;

  explicit BilinearInterpGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), images(init, "X"), index_map(images) {}

  void run(KernelContext&) override {
    if (images.same_size()) {
      std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
      return;
    }
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    images.each_block(x_gradient.data(), out_gradient.data(), [&](T* to, const T* from) {
      index_map.each([&](const int64_t* at, const T* weight, int64_t o) {
        for (int corner = 0; corner < 4; ++corner) {
          for (int64_t i = 0; i < images.inner; ++i) to[at[corner] + i] += from[o + i] * weight[corner];
        }
      });
    });
  }
};

}  // namespace
}  // namespace paddle_mini
