// keep_images_in_lanes: small images stay side by side from convolution to convolution.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// Convolutions of small images hold the same element of neighbouring images in a register, and copy images to this order and
// back (math/cpu/image_lanes.h). In training, where convolutions, normalizations, activations and sums follow each other, the
// images between them stay in the order [images / lanes, channels, height, width lanes]: what works element by element, or
// channel by channel, does not depend on the order. images_to_lanes and images_from_lanes are at the borders. The sums of
// batch_norm are added in another order, so the last bits of its results differ from those without this pass. Programs
// without gradients, whose convolutions have faster classes, other devices than the CPU, and segments with more than one
// copy for two convolutions are left alone.
Segment keep_images_in_lanes(Segment segment, const Placement& placement);

}  // namespace paddle_mini
