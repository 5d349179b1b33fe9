// The right operand of a product in panels: all of it, or a block that stays in the L2 cache.
#pragma once

#include "core/parallel.h"
#include "math/cpu/gemm_block.h"
#include "math/gemm.h"

namespace paddle_mini {
namespace gemm_panels {

using gemm_block::Ahead;
using gemm_block::kWidth;

template <class T>
constexpr int64_t kDepth = 2048 / sizeof(T);  // depth of a segment of k: A's rows for a block of B stay in cache
template <class T>
constexpr int64_t kBlock = (1 << 20) / sizeof(T);  // elements of a block of B: half of the L2 cache

template <class T>
int64_t stride_of_a(const GemmSizes<T>& g) {
  return g.lda ? g.lda : g.transpose_a ? g.m : g.k;
}
template <class T>
int64_t stride_of_b(const GemmSizes<T>& g) {
  return g.ldb ? g.ldb : g.transpose_b ? g.k : g.n;
}
template <class T>
int64_t stride_of_c(const GemmSizes<T>& g) {
  return g.ldc ? g.ldc : g.n;
}

// Packs the columns [left, right) and rows [from, from + depth) of op(B) into panels, a few rows of all panels at a time,
// because reading along stored rows is fast.
template <class T>
void pack_panels(const GemmSizes<T>& g, const T* b, int64_t from, int64_t depth, int64_t left, int64_t right, T* to) {
  const bool transposed = g.transpose_b;
  const int64_t ldb = stride_of_b(g), columns = right - left, step = transposed ? depth : 16;
  b += transposed ? left * ldb + from : from * ldb + left;
  for (int64_t l = 0; l < depth; l += step, b += step * ldb) {
    for (int64_t j = 0; j < columns; j += kWidth<T>) {
      gemm_block::pack_panel(transposed ? b + j * ldb : b + j, ldb, transposed, std::min(step, depth - l),
                             std::min(kWidth<T>, columns - j), to + j * depth + l * kWidth<T>);
    }
  }
}

// Columns of a block of B, such that all blocks have about the same width.
template <class T>
int64_t columns_of_block(int64_t n, int64_t depth) {
  int64_t most = kBlock<T> / std::max<int64_t>(depth, 1) / kWidth<T>, panels = (n + kWidth<T> - 1) / kWidth<T>;
  int64_t count = (panels + most - 1) / most;
  return (panels + count - 1) / count * kWidth<T>;
}

// All of op(B), packed: for each segment of k its panels. `first`: the column of them that is column 0 of a product.
template <class T>
struct PackedB {
  const T* panels = nullptr;  // nullptr: B is not packed
  int64_t n = 0, first = 0;

  static int64_t columns(int64_t n) { return (n + kWidth<T> - 1) / kWidth<T> * kWidth<T>; }
  const T* at(int64_t from, int64_t depth, int64_t left) const {
    return panels + from * columns(n) + (first + left) * depth;
  }
};

// Calls f(begin, depth) for the segments of k. An empty sum has one of depth 0, which stores zeros.
template <class T, class F>
void each_segment(int64_t k, F f) {
  int64_t segments = std::max<int64_t>((k + kDepth<T> - 1) / kDepth<T>, 1);
  for (int64_t s = 0; s < segments; ++s) f(k * s / segments, k * (s + 1) / segments - k * s / segments);
}

template <class T>
void pack_all(KernelContext& context, const GemmSizes<T>& g, const T* b, T* to) {
  const int64_t panels = PackedB<T>::columns(g.n) / kWidth<T>;
  each_segment<T>(g.k, [&](int64_t from, int64_t depth) {
    T* segment = to + from * PackedB<T>::columns(g.n);
    const double cost = bytes_cost(2.0 * sizeof(T)) * static_cast<double>(depth * kWidth<T>);
    parallel_for(context, {panels, cost}, [&](int64_t begin, int64_t end) {
      int64_t left = begin * kWidth<T>, right = std::min(end * kWidth<T>, g.n);
      pack_panels(g, b, from, depth, left, right, segment + left * depth);
    });
  });
}

// Rows whose part of A stays in the L2 cache while they are multiplied with one panel after another.
constexpr int64_t kByPanel = 280;

// Panels of B that are packed; `ahead`: what a block of rows, of so many blocks, prefetches of one.
template <class T>
struct PackedPanels {
  const T* panels;
  int64_t depth;

  const T* at(int64_t j) const { return panels + j * depth; }
  Ahead ahead(int64_t j, int64_t block, int64_t blocks) const {
    constexpr int64_t line = kWidth<T> * sizeof(T);
    return {reinterpret_cast<const char*>(at(j)) + block * depth * line / blocks, (line + blocks - 1) / blocks};
  }
};

constexpr int64_t kFewRowsOfA = 28;  // rows for which it takes less time to read B once than to pack a block of it

// Whether panels of a transposed B are packed one after the other, while the next one is prefetched: the time to read and
// turn B is not short beside that of so few rows. Not if segments are a small part of the stored rows.
template <class T>
bool turns_panels(const GemmSizes<T>& g) {
  return g.transpose_b && g.m > kFewRowsOfA && g.m <= kByPanel && stride_of_b(g) <= 2 * kDepth<T>;
}

template <class T>
struct PanelsToTurn {
  const GemmSizes<T>& g;
  const T* b;
  int64_t from, depth;
  T* memory;

  const T* at(int64_t j) const {
    pack_panels(g, b, from, depth, j, std::min(j + kWidth<T>, g.n), memory);
    return memory;
  }
  Ahead ahead(int64_t j, int64_t block, int64_t blocks) const {
    return j < g.n ? Ahead{b + (j + kWidth<T> * block / blocks) * stride_of_b(g) + from, 64} : Ahead{memory, 0};
  }
};

}  // namespace gemm_panels
}  // namespace paddle_mini
