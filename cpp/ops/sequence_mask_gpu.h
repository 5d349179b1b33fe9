// The kernels of sequence_mask on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/lines.h"

namespace paddle_mini {
namespace {

template <class T, class M>
struct MaskOfLengths {
  int64_t longest;
  const T* x;
  M* to;
  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, longest, 1);
    to[i] = static_cast<M>(place.at < count_below(x[place.line], longest));
  }
};

template <class T>
template <class M>
void SequenceMaskKernel<T>::fill(KernelContext& context) {
  for_each_index(context, x.numel() * longest, MaskOfLengths<T, M>{longest, x.data(), mask->tensor.as<M>()});
}

}  // namespace
}  // namespace paddle_mini
