// Conversion of whole arrays between element types.
#pragma once

#include "core/dtype.h"

namespace paddle_mini {

// to[i] = from[i] for n elements, as C++ converts numbers; to bool: whether it is not zero.
using CastFunction = void (*)(int64_t n, const void* from, void* to);

// Refuses element types that nothing is computed in, such as float16.
CastFunction cast_function(DType from, DType to);

}  // namespace paddle_mini
