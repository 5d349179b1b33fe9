// The kernels of one_hot_v2 on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/ids.h"
#include "math/gpu/lines.h"

namespace paddle_mini {
namespace {

template <class T>
struct OneHot {
  IdsBelow x;
  bool anything;
  T* out;
  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, x.height, 1);
    out[i] = (anything ? x.ids[place.line] : x[place.line]) == place.at ? T(1) : T(0);
  }
};

template <class T>
void OneHotKernel<T>::run(KernelContext& context) {
  for_each_index(context, out.numel(), OneHot<T>{{context, x, depth}, anything, out.data()});
}

}  // namespace
}  // namespace paddle_mini
