// Inner loops of matrix products: a block of C stays in registers during the loop over k (Goto and van de Geijn 2008).
#pragma once

#include <algorithm>

#include "math/map.h"

namespace paddle_mini {
namespace gemm_block {

// Columns of a panel of B. A panel's rows are consecutive and padded with zeros.
template <class T>
constexpr int64_t kWidth = 2 * Vec<T>::size;

// Rows of a block: its sums, a row of the panel and a factor must fit into the registers, 32 or 16 of them.
template <class T>
constexpr int kRows = sizeof(Vec<T>) == 64   ? 14
                      : sizeof(Vec<T>) == 32 ? 6
                                             : 4;

// The data that a block prefetches besides the panel: none, the data after its rows of A, a cache line per
// depth (the next rows, if rows are contiguous), or more of a panel in slow memory: its row 32 ahead, not 8.
enum class Fetch { Nothing, Rows, Panel };

// c[r][..] = (or += if `add`) alpha times the sums for `rows` rows of C. Row r and depth l have the factor
// a[r * row_step + l * depth_step].
template <int rows, class T, Fetch fetch>
void multiply_block(int64_t depth, const T* a, int64_t row_step, int64_t depth_step, const T* panel, T* c, int64_t ldc,
                    int64_t columns, bool add, T alpha) {
  using V = Vec<T>;
  V sums[rows][2];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = V(T(0));
  const T* behind = a + rows * row_step;
  for (int64_t l = 0; l < depth; ++l, panel += kWidth<T>, a += depth_step, behind += V::size) {
    V left = V::load(panel), right = V::load(panel + V::size);
    if constexpr (fetch == Fetch::Rows) __builtin_prefetch(behind, 0, 2);
    const T* ahead = panel + (fetch == Fetch::Panel ? 32 : 8) * kWidth<T>;
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + V::size);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      V factor(a[r * row_step]);
      sums[r][0] = multiply_add(factor, left, sums[r][0]);
      sums[r][1] = multiply_add(factor, right, sums[r][1]);
    }
  }
  int64_t parts[2] = {std::min<int64_t>(columns, V::size), std::max<int64_t>(columns - V::size, 0)};
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      T* to = c + r * ldc + half * V::size;
      V sum = alpha == T(1) ? sums[r][half] : V(alpha) * sums[r][half];
      if (parts[half] == V::size) (add ? V::load(to) + sum : sum).store(to);
      else if (parts[half] > 0) {
        map_loop::store_part(add ? map_loop::load_part(to, parts[half]) + sum : sum, to, parts[half]);
      }
    }
  }
}

// Dispatches to a block with `count` <= rows rows.
template <int rows, class T, Fetch fetch, class... Arguments>
void multiply_rows(int64_t count, Arguments... arguments) {
  if (count == rows) multiply_block<rows, T, fetch>(arguments...);
  else if constexpr (rows > 1) multiply_rows<rows - 1, T, fetch>(count, arguments...);
}

// Packs one panel of `columns` columns and `depth` rows. B[l][i] is b[l * ldb + i], or b[i * ldb + l] if transposed.
template <class T>
void pack_panel(const T* b, int64_t ldb, bool transposed, int64_t depth, int64_t columns, T* panel) {
  constexpr int64_t width = kWidth<T>, lanes = Vec<T>::size;
  int64_t l = 0;
  if (columns == width && transposed) {
    for (; l + lanes <= depth; l += lanes) {
      transpose_square(b + l, ldb, panel + l * width, width);
      transpose_square(b + lanes * ldb + l, ldb, panel + l * width + lanes, width);
    }
  } else if (columns == width) {
    for (; l < depth; ++l) {
      Vec<T> left = Vec<T>::load(b + l * ldb), right = Vec<T>::load(b + l * ldb + lanes);
      left.store(panel + l * width);
      right.store(panel + l * width + lanes);
    }
  }
  for (T* to = panel + l * width; l < depth; ++l, to += width) {
    for (int64_t i = 0; i < columns; ++i) to[i] = transposed ? b[i * ldb + l] : b[l * ldb + i];
    std::fill(to + columns, to + width, T(0));
  }
}

}  // namespace gemm_block
}  // namespace paddle_mini
