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
void AxisSlabs::each(int64_t begin, int64_t end, F f) const {
  int64_t o = picked ? begin / picked : 0, i = begin - o * picked;
  for (int64_t slab = begin; slab < end; ++slab, ++i) {
    if (i == picked) i = 0, ++o;
    int64_t at = index[i] < 0 ? index[i] + length : index[i];
    f(slab * width, (o * length + at) * width);
  }
}

// The expected time of one slab: the first access misses the caches.
inline double slab_cost(double bytes) { return 10 + bytes_cost(2 * bytes); }

// Calls f(offset in the selected slabs, offset in X, width) for slabs, or for parts of them, on several threads: no two
// threads get the same element of X, and each element is met in the order of the slabs.
template <class Selection, class F>
void each_slab_apart(KernelContext& context, const Selection& slabs, size_t element, F f) {
  constexpr int64_t kColumns = 64;
  const int64_t count = slabs.outer * slabs.picked, width = slabs.width;
  const double cost = slab_cost(static_cast<double>(width) * static_cast<double>(element));
  if (width >= 2 * kColumns) {
    const double time = cost * static_cast<double>(count);
    return parallel_for(context, {width, time / static_cast<double>(width), kColumns}, [&](int64_t begin, int64_t end) {
      slabs.each(0, count, [&](int64_t from, int64_t at) { f(from + begin, at + begin, end - begin); });
    });
  }
  parallel_for(context, {count, cost, std::max<int64_t>(slabs.picked, 1)}, [&](int64_t begin, int64_t end) {
    slabs.each(begin, end, [&](int64_t from, int64_t at) { f(from, at, width); });
  });
}

template <class Selection>
void check_slabs(const Selection& slabs) {
  int64_t at = slabs.first_outside();
  if (at >= 0) slabs.refuse(slabs.index[at], at);
}

template <class Selection>
void pick_slabs(KernelContext& context, const Selection& slabs, size_t element, const void* from, void* to) {
  size_t bytes = static_cast<size_t>(slabs.width) * element;
  if (bytes == 0) return;
  const LoopSize size{slabs.outer * slabs.picked, slab_cost(static_cast<double>(bytes))};
  parallel_for(context, size, [&](int64_t begin, int64_t end) {
    slabs.each(begin, end, [&](int64_t picked, int64_t at) {
      std::memcpy(static_cast<char*>(to) + static_cast<size_t>(picked) * element,
                  static_cast<const char*>(from) + static_cast<size_t>(at) * element, bytes);
    });
  });
}

template <class Selection, class T>
void zero_slabs(KernelContext& context, const Selection& slabs, T* to) {
  each_slab_apart(context, slabs, sizeof(T),
                  [=](int64_t, int64_t at, int64_t width) { std::fill_n(to + at, width, T(0)); });
}

// to = before, or 0 if that is null, with the updates added to the slabs
template <class T, class Selection>
void add_to_slabs(KernelContext& context, const Selection& slabs, const SegmentedScatter&, const T* before,
                  const T* updates, T* to) {
  int64_t count = slabs.outer * slabs.length * slabs.width;
  if (!before) fill_n(context, to, count, T(0));
  else if (to != before) copy_n(context, before, count, to);
  each_slab_apart(context, slabs, sizeof(T), [=](int64_t from, int64_t at, int64_t width) {
    for (int64_t j = 0; j < width; ++j) to[at + j] = static_cast<T>(to[at + j] + updates[from + j]);
  });
}

}  // namespace paddle_mini
