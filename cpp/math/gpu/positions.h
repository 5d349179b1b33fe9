// Slabs of a tensor selected by an integer tensor, on a GPU.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/gpu/ids.h"
#include "math/unravel_last.h"

namespace paddle_mini {

// The position of the i-th selected slab; -1, with a reported error, if it is out of range.
struct Positions {
  Ids ids;
  int64_t length;
  bool negatives_too;  // negative ones count from the end
  Refusal refuse;

  Positions(const KernelContext& context, const IndexIn& in, int64_t length, bool negatives_too)
      : ids(in), length(length), negatives_too(negatives_too), refuse(context) {}
  PM_DEVICE int64_t operator()(int64_t i) const {
    int64_t id = ids[i], at = negatives_too && id < 0 ? id + length : id;
    if (at >= 0 && at < length) return at;
    refuse(id, i);
    return -1;
  }
};

namespace positions_gpu {

// to [rows, picked, width] = from [rows, length, width] at the positions
template <class T, class Where>
struct Gather {
  Where where;
  int64_t picked, length, width;
  const T* from;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t row = i, element = unravel_last(row, width), at = where(unravel_last(row, picked));
    if (at >= 0) to[i] = from[(row * length + at) * width + element];
  }
};

template <class T, class Where>
struct Zero {
  Where where;
  int64_t width;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t slab = i, element = unravel_last(slab, width), at = where(slab);
    if (at >= 0) to[at * width + element] = T(0);
  }
};

}  // namespace positions_gpu

// Slabs of `bytes`, copied in units as large as alignment and size allow.
template <class Where>
void gather_slabs(KernelContext& context, const Where& where, int64_t rows, int64_t picked, int64_t length,
                  size_t bytes, const void* from, void* to) {
  if (bytes == 0) return;
  uintptr_t alignment = bytes | reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to);
  auto as = [&](auto piece) {
    using T = decltype(piece);
    int64_t width = static_cast<int64_t>(bytes / sizeof(T));
    positions_gpu::Gather<T, Where> gather{
        where, picked, length, width, static_cast<const T*>(from), static_cast<T*>(to)};
    for_each_index(context, rows * picked * width, gather);
  };
  if (alignment % 8 == 0) as(uint64_t{});
  else if (alignment % 4 == 0) as(uint32_t{});
  else if (alignment % 2 == 0) as(uint16_t{});
  else as(uint8_t{});
}

// Sets `count` slabs of `width` elements at the positions to 0.
template <class T, class Where>
void zero_slabs(KernelContext& context, const Where& where, int64_t count, int64_t width, T* to) {
  for_each_index(context, count * width, positions_gpu::Zero<T, Where>{where, width, to});
}

}  // namespace paddle_mini
