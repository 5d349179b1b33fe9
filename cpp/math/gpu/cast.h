// Conversion of arrays on a GPU.
#pragma once

#include "math/cast.h"

namespace paddle_mini {

namespace cast_gpu {
// One kernel for each element type of the result; the source type is the same for all threads, so they don't diverge.
template <class To>
void run(KernelContext& context, DType from_type, int64_t n, const void* from, void* to);
}  // namespace cast_gpu

template <class From, class To>
void cast_elements(KernelContext& context, int64_t n, const void* from, void* to) {
  cast_gpu::run<To>(context, dtype_of<From>::value, n, from, to);
}

}  // namespace paddle_mini
