// The left operand of a product: where it lies, or packed.
#pragma once

#include "math/cpu/gemm_panels.h"

namespace paddle_mini {
namespace gemm_panels {

using gemm_block::kRows;

// Depth stride in packed A: full registers where a part of one is slow to store.
template <class T>
constexpr int64_t kStep = many_registers<T> ? kRows<T> : (kRows<T> + Vec<T>::size - 1) / Vec<T>::size * Vec<T>::size;
template <class T>  // rows of A that are packed together: of a transposed A, full cache lines
constexpr int64_t kTogether = (many_registers<T> ? 16 : 8) * kRows<T>;
template <class T>  // elements of `memory` of rows_of
constexpr int64_t kRowsMemory = (kByPanel / kRows<T> + 1) * kDepth<T> * kStep<T>;

// Packs rows of an op(A) that is stored transposed into blocks of kRows; the factors of one depth are adjacent.
template <class T>
void pack_rows(const T* a, int64_t lda, int64_t rows, int64_t depth, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  for (int64_t l = 0; l < depth; ++l, a += lda, to += kStep<T>) {
    T* at = to;
    for (int64_t i = 0; i < rows; i += kRows<T>, at += depth * kStep<T>) {
#pragma GCC unroll 2
      for (int64_t part = 0; part < kStep<T>; part += lanes) {
        const int64_t count = std::min(kStep<T> - part, lanes), left = rows - i - part;
        const Vec<T> row =
            left >= lanes ? Vec<T>::load(a + i + part) : map_loop::load_part(a + i + part, std::max<int64_t>(left, 0));
        if (count == lanes) row.store(at + part);
        else map_loop::store_part(row, at + part, count);
      }
    }
  }
}

// Rows of op(A) where they lie, or packed by pack_rows. Row r and depth l are at at[r * row_step + l * depth_step] within a
// block of `height` rows; blocks are block_step apart. `next` and its steps: what is read after each block from slower memory.
template <class T>
struct Rows {
  const T* at;
  int64_t count, height, row_step, depth_step, block_step;
  const T* next;
  int64_t next_row_step, next_depth_step, next_block_step;
};

// Blocks of nearly equal height: 10 rows as 5 and 5, because 9 and 1 read as much of B for one row.
inline int64_t height_of_blocks(int64_t rows, int64_t most) {
  const int64_t blocks = (rows + most - 1) / most;
  return (rows + blocks - 1) / blocks;
}

constexpr int kPlaces = 8;  // lines that a set of the L1 cache holds, at least

// The rows of op(A) from `top` on, for the depths from `from` on. Rows that are a multiple of 4 KB apart share a set of the
// L1 cache, so their blocks have no more rows than the set has places.
template <class T>
Rows<T> rows_of(const GemmSizes<T>& g, const T* a, int64_t top, int64_t count, int64_t from, int64_t depth, T* memory) {
  const int64_t lda = stride_of_a(g);
  const T* rows = a + (g.transpose_a ? from * lda + top : top * lda + from);
  if (g.transpose_a) {
    pack_rows(rows, lda, count, depth, memory);
    return {memory, count, kRows<T>, 1, kStep<T>, depth * kStep<T>, rows + count, 0, lda, kRows<T>};
  }
  const bool share_sets = lda % (4096 / static_cast<int64_t>(sizeof(T))) == 0;
  const int64_t height = height_of_blocks(count, share_sets ? std::min(kRows<T>, kPlaces) : kRows<T>);
  return {rows, count, height, lda, 1, height * lda, rows + height * lda, lda, 1, height * lda};
}

}  // namespace gemm_panels
}  // namespace paddle_mini
