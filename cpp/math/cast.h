// Conversion of whole arrays between element types.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// to[i] = from[i] for n elements, as C++ converts numbers; to bool: whether it is not zero.
using CastFunction = void (*)(KernelContext& context, int64_t n, const void* from, void* to);

// float16 and bfloat16 by way of float32.
CastFunction cast_function(DType from, DType to);

}  // namespace paddle_mini
