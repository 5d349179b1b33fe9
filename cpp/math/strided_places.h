// StridedPlaces: offsets in a tensor of the elements of a view of it, such as a diagonal or a broadcast operand.
//   take_places(context, bytes, n, places, from, to)    to[i] = from[places(i)]
//   put_places(context, bytes, n, places, from, to)     to[places(i)] = from[i]; no two places are equal
#pragma once

#include "math/complex.h"
#include "math/for_each_index.h"
#include "math/unravel_last.h"

namespace paddle_mini {

struct StridedPlaces {
  int rank = 0;
  int64_t first = 0, sizes[Shape::kMaxRank] = {}, steps[Shape::kMaxRank] = {};

  void add(int64_t size, int64_t step) {  // an axis of the view, the slowest first
    sizes[rank] = size;
    steps[rank++] = step;
  }
  PM_HD int64_t operator()(int64_t i) const {
    int64_t at = first;
    for (int d = rank - 1; d >= 0; --d) at += unravel_last(i, sizes[d]) * steps[d];
    return at;
  }
};

// The elements of an operand that is broadcast to a shape as in NumPy.
inline StridedPlaces broadcast_places(const Shape& operand, const Shape& to) {
  StridedPlaces places;
  int new_axes = to.rank() - operand.rank();
  for (int i = 0; i < to.rank(); ++i) {
    int own = i - new_axes;
    bool repeated = own < 0 || operand[own] == 1;
    places.add(to[i], repeated ? 0 : operand.numel(own + 1, operand.rank()));
  }
  return places;
}

namespace places_copy {
template <class Unit>
struct Take {
  StridedPlaces places;
  const Unit* from;
  Unit* to;
  PM_HD void operator()(int64_t i) const { to[i] = from[places(i)]; }
};
template <class Unit>
struct Put {
  StridedPlaces places;
  const Unit* from;
  Unit* to;
  PM_HD void operator()(int64_t i) const { to[places(i)] = from[i]; }
};

// Calls f with a number of an element's size.
template <class F>
void with_unit(size_t bytes, F f) {
  if (bytes == 16) f(Complex<double>{});
  else if (bytes == 8) f(uint64_t{});
  else if (bytes == 4) f(uint32_t{});
  else if (bytes == 2) f(uint16_t{});
  else f(uint8_t{});
}
}  // namespace places_copy

inline void take_places(KernelContext& context, size_t bytes, int64_t n, const StridedPlaces& places, const void* from,
                        void* to) {
  places_copy::with_unit(bytes, [&](auto unit) {
    using Unit = decltype(unit);
    places_copy::Take<Unit> take{places, static_cast<const Unit*>(from), static_cast<Unit*>(to)};
    for_each_index(context, n, take);
  });
}

inline void put_places(KernelContext& context, size_t bytes, int64_t n, const StridedPlaces& places, const void* from,
                       void* to) {
  places_copy::with_unit(bytes, [&](auto unit) {
    using Unit = decltype(unit);
    places_copy::Put<Unit> put{places, static_cast<const Unit*>(from), static_cast<Unit*>(to)};
    for_each_index(context, n, put);
  });
}

}  // namespace paddle_mini
