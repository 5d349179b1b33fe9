// Slices: the elements between starts and ends along some axes; index maps and schemas.
#pragma once

#include "math/axis_index_map.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {

// The index maps from the attributes axes, starts, ends (and strides) for a tensor of this shape.
AxisIndexMaps slice_index_maps(const OpDesc& op, const Shape& x, bool strided);
// The shape of the slice without the axes in decrease_axis, which must have one element.
Shape sliced_shape(const OpDesc& op, const AxisIndexMaps& index_maps);

// Adds the complete schemas of slice (strided false) or strided_slice, forward and gradient.
void add_slice(OpTable& ops, const char* type, const char* gradient_type, bool strided);

}  // namespace paddle_mini
