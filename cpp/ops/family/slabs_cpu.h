// Loops over slabs on a CPU.
#pragma once

#include <cstring>

namespace paddle_mini {

inline int64_t AxisSlabs::first_outside() const {
  for (int64_t i = 0, low = negatives_too ? -length : 0; i < picked; ++i) {
    if (index[i] < low || index[i] >= length) return i;
  }
  return -1;
}

template <class F>
void AxisSlabs::each(F f) const {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < picked; ++i) {
      int64_t at = index[i] < 0 ? index[i] + length : index[i];
      f((o * picked + i) * width, (o * length + at) * width);
    }
  }
}

template <class Selection>
void check_slabs(const Selection& slabs) {
  int64_t at = slabs.first_outside();
  if (at >= 0) slabs.refuse(slabs.index[at], at);
}

template <class Selection>
void pick_slabs(KernelContext&, const Selection& slabs, size_t element, const void* from, void* to) {
  size_t bytes = static_cast<size_t>(slabs.width) * element;
  if (bytes == 0) return;
  slabs.each([&](int64_t picked, int64_t at) {
    std::memcpy(static_cast<char*>(to) + static_cast<size_t>(picked) * element,
                static_cast<const char*>(from) + static_cast<size_t>(at) * element, bytes);
  });
}

template <class Selection, class T>
void zero_slabs(KernelContext&, const Selection& slabs, T* to) {
  slabs.each([&](int64_t, int64_t at) { std::fill_n(to + at, slabs.width, T(0)); });
}

// to = before, or 0 if that is null, with the updates added to the slabs
template <class T, class Selection>
void add_to_slabs(KernelContext&, const Selection& slabs, const SegmentedScatter&, const T* before, const T* updates,
                  T* to) {
  int64_t count = slabs.outer * slabs.length * slabs.width;
  if (!before) std::fill_n(to, count, T(0));
  else if (to != before) std::copy_n(before, count, to);
  slabs.each([&](int64_t from, int64_t at) {
    for (int64_t j = 0; j < slabs.width; ++j) to[at + j] = static_cast<T>(to[at + j] + updates[from + j]);
  });
}

}  // namespace paddle_mini
