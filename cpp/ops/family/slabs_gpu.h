// Slabs on a GPU.
#pragma once

#include "math/gpu/positions.h"

namespace paddle_mini {

inline Positions positions_of(const KernelContext& context, const AxisSlabs& slabs) {
  return {context, slabs.index, slabs.length, slabs.negatives_too};
}

template <class Selection>
void check_slabs(const Selection&) {}  // positions report what is out of range

template <class Selection>
void pick_slabs(KernelContext& context, const Selection& slabs, size_t element, const void* from, void* to) {
  gather_slabs(context, positions_of(context, slabs), slabs.outer, slabs.picked, slabs.length,
               static_cast<size_t>(slabs.width) * element, from, to);
}

template <class Selection, class T>
void zero_slabs(KernelContext& context, const Selection& slabs, T* to) {
  zero_slabs(context, positions_of(context, slabs), slabs.picked, slabs.width, to);
}

// to = before, or 0 if that is null, with the updates added to the slabs
template <class T, class Selection>
void add_to_slabs(KernelContext& context, const Selection& slabs, const SegmentedScatter& by_slab, const T* before,
                  const T* updates, T* to) {
  using Combine = SegmentedScatter::Combine;
  by_slab.sort(context, positions_of(context, slabs));
  if (before) by_slab.put<Combine::AddTo>(context, slabs.outer, slabs.length, slabs.width, before, updates, to);
  else by_slab.put<Combine::Sum>(context, slabs.outer, slabs.length, slabs.width, before, updates, to);
}

}  // namespace paddle_mini
