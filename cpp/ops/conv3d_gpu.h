// GPU kernels of conv3d.
#pragma once

#include "math/gpu/convolution.h"

namespace paddle_mini {
namespace {

template <class T>
struct FilteredVolumes : VolumeConvolution<T> {
  FilteredVolumes(const KernelInit& init, bool) : VolumeConvolution<T>(volumes(init)) {}

  static ConvolvedVolumes volumes(const KernelInit& init) {
    const Shape& filter = init.input("Filter")->tensor.shape;
    VolumeLayout input(init.input("Input")->tensor.shape, init.attr<std::string>("data_format"));
    int64_t groups = init.attr<int32_t>("groups");
    return {input.images,       groups, filter[1], filter[0] / groups, conv3d_axes_of(init, input, filter),
            input.channels_last};
  }
};

}  // namespace
}  // namespace paddle_mini
