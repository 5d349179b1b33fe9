// Kernels of along_axis on a GPU.
#pragma once

#include "math/gpu/positions.h"
#include "math/unravel_last.h"

namespace paddle_mini {

// Offset in X of the element that element i of Index refers to; -1, with a reported error, if it is out of range.
struct AlongPositions {
  Positions positions;
  int rank, axis;
  int64_t index_dims[Shape::kMaxRank], x_steps[Shape::kMaxRank];

  PM_DEVICE int64_t operator()(int64_t i) const {
    int64_t at = positions(i), left = i, place = at < 0 ? 0 : at * x_steps[axis];
    for (int d = rank - 1; d >= 0; --d) {
      int64_t along = unravel_last(left, index_dims[d]);
      if (d != axis) place += along * x_steps[d];
    }
    return at < 0 ? -1 : place;
  }
};

inline AlongPositions positions_of(const KernelContext& context, const AlongAxis& along) {
  AlongPositions result{
      Positions(context, along.index, along.length, along.negatives_too), along.x.rank(), along.axis, {}, {}};
  for (int d = 0; d < along.x.rank(); ++d) {
    result.index_dims[d] = along.index.shape()[d];
    result.x_steps[d] = along.x.numel(d + 1, along.x.rank());
  }
  return result;
}

template <const AlongRule& rule>
template <class T>
void TakeKernel<rule>::For<T>::run(KernelContext& context) {
  gather_slabs(context, positions_of(context, along), 1, out.numel(), x.numel(), sizeof(T), x.data(), out.data());
}

template <const AlongRule& rule>
template <class T>
void TakeGradKernel<rule>::For<T>::run(KernelContext& context) {
  by_element.sort(context, positions_of(context, along));
  by_element.template put<SegmentedScatter::Combine::Sum, T>(context, 1, x_gradient.numel(), 1, nullptr,
                                                             out_gradient.data(), x_gradient.data());
}

}  // namespace paddle_mini
