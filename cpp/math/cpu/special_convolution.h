// SpecialConvolution: the classes that compute convolutions of particular shapes.
#pragma once

#include <optional>

#include "math/cpu/channel_panels.h"
#include "math/cpu/depthwise.h"
#include "math/cpu/pointwise.h"
#include "math/cpu/winograd.h"

namespace paddle_mini {

// Has one of them, or none, of the output or, as a convolution by_input(), of the gradient of images.
template <class T>
class SpecialConvolution {
 public:
  // port: as of FilterOrder. by_input: of the gradient, or else of the output.
  SpecialConvolution(KernelInit& init, const ConvolutionSizes& sizes, const char* port, bool by_input);

  bool fits() const { return depthwise_ || winograd_ || channel_panels_ || pointwise_; }
  void run(KernelContext& context, const T* image, const T* filter, T* out);

 private:
  void choose_by_input(KernelInit& init, const ConvolutionSizes& sizes, const char* port);
  void choose(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order);

  std::optional<DepthwiseConvolution<T>> depthwise_;
  std::optional<WinogradConvolution> winograd_;
  std::optional<ChannelPanels<T>> channel_panels_;
  std::optional<PointwiseConvolution<T>> pointwise_;
};

extern template class SpecialConvolution<float>;
extern template class SpecialConvolution<double>;

}  // namespace paddle_mini
