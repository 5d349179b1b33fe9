// Convolution of images on a CPU.
#pragma once

#include "math/cpu/depthwise_filter_gradient.h"
#include "math/cpu/direct_convolution.h"
#include "math/cpu/direct_filter_gradient.h"
#include "math/cpu/filter_gradient.h"
#include "math/cpu/image_lanes.h"
#include "math/cpu/image_lanes_gradient.h"
#include "math/cpu/patch_products.h"
#include "math/cpu/special_convolution.h"

#include <optional>

namespace paddle_mini {

// Chooses the class that computes each result by the sizes: of those that can, the fastest one.
template <class T>
class Convolution {
 public:
  Convolution(KernelInit& init, const ConvolutionSizes& sizes, const ConvolutionResults& results);

  void run(KernelContext&, const T* image, const T* filter, T* out);  // adds all parts of `out` to StoredParts
  void input_gradient(KernelContext&, const T* filter, const T* out_gradient, T* image_gradient);
  void filter_gradient(KernelContext&, const T* image, const T* out_gradient, T* filter_gradient);

 private:
  bool choose_forward(KernelInit& init, const char* port);
  bool choose_by_input(KernelInit& init, const char* port);
  bool choose_direct_by_input(KernelInit& init);
  void choose_by_filter(KernelInit& init);

  ConvolutionSizes s_;
  bool every_pixel_seen_ = true;  // by direct_by_input_
  // What may compute the outputs, or gradients of images: one of these, or patch_products_.
  std::optional<SpecialConvolution<T>> special_forward_, special_by_input_;
  std::optional<ImageLanes<T>> lanes_forward_, lanes_by_input_;
  std::optional<DirectConvolution<T>> direct_forward_, direct_by_input_;
  std::optional<PatchProducts<T>> patch_products_;
  // The gradient of the filters: one of these.
  std::optional<DepthwiseFilterGradient<T>> depthwise_by_filter_;
  std::optional<ImageLanesGradient<T>> lanes_by_filter_;
  std::optional<FilterGradient<T>> packed_by_filter_;
  std::optional<DirectFilterGradient<T>> direct_by_filter_;
};

// Products in tiles, with sums in float32 that are rounded once: of filters and patches, which are packed from the image
// when they are multiplied. Where these do not fit, or the process has no tiles, the convolution is one of float32.
template <>
class Convolution<BFloat16> {
 public:
  Convolution(KernelInit& init, const ConvolutionSizes& sizes, const ConvolutionResults& results);

  void run(KernelContext&, const BFloat16* image, const BFloat16* filter, BFloat16* out);
  void input_gradient(KernelContext&, const BFloat16* filter, const BFloat16* out_gradient, BFloat16* image_gradient);
  void filter_gradient(KernelContext&, const BFloat16* image, const BFloat16* out_gradient, BFloat16* filter_gradient);

 private:
  // The convolution of float32, with copies of its operands.
  struct Wide {
    Convolution<float> convolution;
    Scratch<float> image, filter, out;
  };

  ConvolutionSizes s_;
  bool forward_, by_input_, by_filter_;  // whether these are in tiles
  std::optional<Scratch<BFloat16>> filters_;  // [groups, in_channels, out_channels, window], for input_gradient
  std::optional<Wide> wide_;
};

}  // namespace paddle_mini
