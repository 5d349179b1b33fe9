// Convolution of images [images, channels, height, width] with filters: as products of matrices.
#pragma once

#include "core/kernel.h"
#include "math/gemm.h"
#include "math/window.h"

namespace paddle_mini {

struct ConvolutionSizes {
  int64_t images = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
  WindowAxis height, width;

  int64_t taps() const { return in_channels * height.window * width.window; }
  int64_t pixels() const { return height.out * width.out; }
  int64_t image_size() const { return groups * in_channels * height.size * width.size; }
  int64_t out_size() const { return groups * out_channels * pixels(); }
};

// The patches of several images are written side by side as the columns of one matrix [taps, pixels],
// so that the products are large; as many images as keep that matrix in the cache.
template <class T>
class Convolution {
 public:
  Convolution(KernelInit& init, const ConvolutionSizes& sizes);

  void run(Device& device, const T* image, const T* filter, T* out);
  void input_gradient(Device& device, const T* filter, const T* out_gradient, T* image_gradient);
  void filter_gradient(Device& device, const T* image, const T* out_gradient, T* filter_gradient);

 private:
  // f(first image, how many, group) for every run of images that is computed at once.
  template <class F>
  void each_run(F f) const;
  const T* columns_of(const T* image, int64_t first, int64_t count, int64_t group);
  void add_columns(T* image, int64_t first, int64_t count, int64_t group) const;
  void gather(const T* out, int64_t first, int64_t count, int64_t group);
  void scatter(T* out, int64_t first, int64_t count, int64_t group) const;

  ConvolutionSizes s_;
  int64_t together_;  // images
  bool plain_;        // the patches are the image itself: one tap, no padding
  Scratch<T> columns_, outs_;
};

extern template class Convolution<float>;
extern template class Convolution<double>;

}  // namespace paddle_mini
