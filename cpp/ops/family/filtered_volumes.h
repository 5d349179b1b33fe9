// FilteredVolumes<T>: the convolution of volumes with filters, and its gradients, for conv3d and conv3d_transpose.
#pragma once

#include "math/volume.h"
#include "ops/family/convolution.h"

namespace paddle_mini {

struct FilteredVolumeSizes {
  VolumeLayout input;
  int64_t groups, ins, outs;  // channels of a group
  VolumeAxes axes;
};

}  // namespace paddle_mini

#include PM_FAMILY(filtered_volumes)
