// fold: a normalization with running statistics, or another affine map of channels, becomes part of the product before it.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// batch_norm with running statistics, affine_channel or scale directly after a convolution or a product whose weights
// are constant, possibly with the addition of a constant bias in between:
//   (x * W + b - mean) k + shift  =  x * (W k) + ((b - mean) k + shift),   k = scale / sqrt(variance + epsilon)
// by output channel (Jacob et al. 2018, section 3.2). The operator fold_normalization computes W k and the new bias once
// (derived.h); the product reads W k, and an elementwise_add of the new bias follows it. Programs that write variables
// of the scope, other devices than the CPU, and results that anything else reads or fetches are left alone.
Segment fold(Segment segment, const Placement& placement);

}  // namespace paddle_mini
