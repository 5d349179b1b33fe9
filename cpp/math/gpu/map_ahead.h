// map_ahead on a GPU is map.
#pragma once

#include "math/map.h"

namespace paddle_mini {

template <class T, class F, class... Inputs>
void map_ahead(KernelContext& context, int64_t n, F f, T* out, const Inputs*... in) {
  map(context, n, f, out, in...);
}

}  // namespace paddle_mini
