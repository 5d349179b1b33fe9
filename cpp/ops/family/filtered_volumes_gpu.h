// Convolutions of volumes on GPUs.
#pragma once

#include "math/gpu/convolution.h"

namespace paddle_mini {

template <class T>
struct FilteredVolumes : VolumeConvolution<T> {
  FilteredVolumes(const KernelInit&, const FilteredVolumeSizes& s)
      : VolumeConvolution<T>({s.input.images, s.groups, s.ins, s.outs, s.axes, s.input.channels_last}) {}
};

}  // namespace paddle_mini
