// Conversion of whole arrays between element types.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// to[i] = from[i] for n elements, converted as in C++; conversion to bool tests for nonzero, and that of a complex
// number to a real one takes the real part.
using CastFunction = void (*)(KernelContext& context, int64_t n, const void* from, void* to);

// float16 and bfloat16 are converted via float32.
CastFunction cast_function(DType from, DType to);

}  // namespace paddle_mini
