// Convolutions by NVIDIA's cuDNN, if the machine has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernel.h"

namespace paddle_mini {

// Tap t of window o reads the position o * stride - before + t * dilation.
struct ConvolvedAxis {
  int64_t in, out, window, before, stride, dilation;
};

struct ConvolvedShape {
  int64_t images, groups, in_channels, out_channels;  // channels per group
  std::vector<ConvolvedAxis> axes;                    // two or three
  bool channels_last;                                 // layout of images and results; filters are [outs, ins, taps]
};

// One convolution and its gradients. The functions return false, without any effect, if cuDNN is missing or does not
// support it.
class CudnnConvolution {
 public:
  CudnnConvolution(DType dtype, const ConvolvedShape& shape);  // float32 or float64
  ~CudnnConvolution();

  bool run(KernelContext& context, const void* image, const void* filter, void* out);
  bool filter_gradient(KernelContext& context, const void* image, const void* out_gradient, void* filter_gradient);
  bool input_gradient(KernelContext& context, const void* filter, const void* out_gradient, void* image_gradient);

 private:
  struct Made;
  std::unique_ptr<Made> made_;  // nullptr: not supported
};

std::string cudnn_description();

}  // namespace paddle_mini
