// StridedIndex: converts a linear index to offsets in several strided arrays; GPU threads compute it per element.
#pragma once

#include <initializer_list>

#include "core/shape.h"
#include "cuda/launch.h"

namespace paddle_mini {

template <int arrays>
struct StridedIndex {
  static constexpr int kMost = Shape::kMaxRank;

  int rank = 0;
  int64_t count = 1;  // number of elements
  int64_t size[kMost] = {}, step[arrays][kMost] = {};  // fastest axis first

  // Adds the next slower axis.
  void add(int64_t n, std::initializer_list<int64_t> steps) {
    size[rank] = n;
    count *= n;
    int array = 0;
    for (int64_t one : steps) step[array++][rank] = one;
    ++rank;
  }

  // Adds the offsets of element i to `offsets`.
  PM_DEVICE void move(int64_t i, int64_t (&offsets)[arrays]) const {
    if (count <= INT32_MAX) move_by(static_cast<uint32_t>(i), offsets);  // for faster division
    else move_by(static_cast<uint64_t>(i), offsets);
  }

 private:
  template <class Number>
  PM_DEVICE void move_by(Number i, int64_t (&offsets)[arrays]) const {
    if (rank == 1) {  // without the loop, whose length the compiler does not know
      for (int array = 0; array < arrays; ++array) offsets[array] += static_cast<int64_t>(i) * step[array][0];
      return;
    }
#pragma unroll 1
    for (int d = 0; d < rank; ++d) {
      Number n = static_cast<Number>(size[d]), at = d + 1 < rank ? i % n : i;
      i = d + 1 < rank ? i / n : 0;
      for (int array = 0; array < arrays; ++array) offsets[array] += static_cast<int64_t>(at) * step[array][d];
    }
  }
};

}  // namespace paddle_mini
