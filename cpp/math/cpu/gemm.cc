// Matrix products. They keep a block of B in the L2 cache while streaming A and C, each once; those with one row or column
// are products of a matrix and a vector.
#include "math/gemm.h"

#include "core/per_thread.h"
#include "core/stored_parts.h"
#include "math/cpu/gemm_rows.h"
#include "math/cpu/matrix_vector.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/product_tiles.h"

namespace paddle_mini {
namespace {

using gemm_block::Fetch;
using namespace gemm_panels;

// Adds rows of C that are complete.
template <class T>
void add_rows(StoredParts<T>& stored, const T* c, int64_t ldc, int64_t rows, int64_t columns) {
  if (!stored.are_wanted()) return;
  for (int64_t i = 0; i < rows; ++i) stored.add(c + i * ldc, columns);
}

// Buffers for packed operands, one per thread, reused by all products.
template <class T>
struct Workspace {
  alignas(64) T b[kBlock<T>];
  alignas(64) T a[kRowsMemory<T>];
};

template <class T>
struct Sums {
  bool add, are_complete;
  T alpha;
};

// Rows of C times the panels of a block of B.
template <class T>
struct BlockOfB {
  StoredParts<T>& stored;
  const T* panels;
  int64_t columns, depth;
  Sums<T> sums;
  int64_t ldc;

  template <Fetch fetch>
  void multiply(const Rows<T>& rows, int64_t i, const T* panel, int64_t j, T* c, Ahead ahead) const {
    gemm_block::multiply_panel<T, fetch>(std::min(rows.height, rows.count - i), depth,
                                         rows.at + i / rows.height * rows.block_step, rows.row_step, rows.depth_step,
                                         panel, c + i * ldc + j, ldc, columns - j, sums.add, sums.alpha, ahead);
  }

  // All rows are multiplied with a panel while the next one, which may come from slow memory, is prefetched.
  template <class Panels>
  void by_panel(const Panels& all, const Rows<T>& rows, T* c) const {
    const int64_t blocks = (rows.count + rows.height - 1) / rows.height;
    for (int64_t j = 0; j < columns; j += kWidth<T>) {
      const T* panel = all.at(j);
      for (int64_t i = 0; i < rows.count; i += rows.height) {
        if (blocks == 1) multiply<Fetch::Panel>(rows, i, panel, j, c, {});
        else multiply<Fetch::Ahead>(rows, i, panel, j, c, all.ahead(j + kWidth<T>, i / rows.height, blocks));
      }
    }
    if (sums.are_complete) add_rows(stored, c, ldc, rows.count, columns);
  }

  void by_few_rows(const Rows<T>& rows, T* c) const {
    gemm_block::multiply_few_rows<T, Fetch::Panel>(rows.count, depth, rows.at, rows.row_step, rows.depth_step, panels,
                                                   kWidth<T> * depth, c, ldc, columns, sums.add, sums.alpha);
    if (sums.are_complete) add_rows(stored, c, ldc, rows.count, columns);
  }

  // The panels are in the L2 cache. A block of rows stays in the L1 cache, while what follows is prefetched, a row for each
  // panel.
  void by_rows(const Rows<T>& rows, T* c) const {
    for (int64_t i = 0; i < rows.count; i += rows.height) {
      const T* next = rows.next + i / rows.height * rows.next_block_step;
      if (columns <= kWidth<T> && rows.depth_step == 1) {
        multiply<Fetch::Rows>(rows, i, panels, 0, c, {next, 0});
      } else {
        for (int64_t j = 0; j < columns; j += kWidth<T>) {
          multiply<Fetch::Ahead>(rows, i, panels + j * depth, j, c,
                                 {next + j / kWidth<T> % rows.height * rows.next_row_step,
                                  rows.next_depth_step * int64_t{sizeof(T)}});
        }
      }
      if (sums.are_complete) add_rows(stored, c + i * ldc, ldc, std::min(rows.height, rows.count - i), columns);
    }
  }
};

template <class T>
void run_by_panels(const KernelContext& context, const GemmSizes<T>& g, const T* a, const T* b,
                   const PackedB<T>& packed, T* c) {
  const int64_t ldc = stride_of_c(g);
  const bool packs_each = !packed.panels && turns_panels(g);
  const bool by_panel = packs_each || g.m <= (packed.panels ? kByPanel : kFewRowsOfA);
  const int64_t together = by_panel ? g.m : kTogether<T>;
  Workspace<T>& w = per_thread<Workspace<T>>();
  StoredParts<T> stored(context);
  each_segment<T>(g.k, [&](int64_t from, int64_t depth) {
    const Sums<T> sums{from > 0 || g.beta != T(0), from + depth == g.k, g.alpha};
    const int64_t wide = packs_each ? g.n : columns_of_block<T>(g.n, depth);
    for (int64_t left = 0; left < g.n; left += wide) {
      int64_t right = std::min(g.n, left + wide);
      const BlockOfB<T> block{stored, packed.panels ? packed.at(from, depth, left) : w.b, right - left, depth, sums,
                              ldc};
      if (!packed.panels && !packs_each) pack_panels(g, b, from, depth, left, right, w.b);
      for (int64_t top = 0; top < g.m; top += together) {
        const int64_t count = std::min(g.m - top, together);
        const Rows<T> rows = rows_of(g, a, top, count, from, depth, w.a);
        T* to = c + top * ldc + left;
        if (packs_each) block.by_panel(PanelsToTurn<T>{g, b, from, depth, w.b}, rows, to);
        else if (by_panel && count <= gemm_block::kFewRows) block.by_few_rows(rows, to);
        else if (by_panel) block.by_panel(PackedPanels<T>{block.panels, depth}, rows, to);
        else block.by_rows(rows, to);
      }
    }
  });
}

// The time of a product on one core. One row or column, and short sums, take as long as their operands take to arrive.
template <class T>
double time_of(const GemmSizes<T>& g) {
  const double flops = 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (g.m > 1 && g.n > 1 && g.k >= 16) return flops_cost(flops);
  return std::max(flops_cost(flops), bytes_cost(static_cast<double>(g.m * g.k + g.k * g.n + g.m * g.n) * sizeof(T)));
}

template <class T>
bool is_vector(const GemmSizes<T>& g) {
  return g.m <= 1 || g.n <= 1;
}

template <class T>
ProductTiles tiles_of(const GemmSizes<T>& g, int64_t high = 1, int64_t wide = 1) {
  return {g.m, g.n, kRows<T>, kWidth<T>, high, wide};
}

template <class T>
void run_in_tiles(KernelContext& context, const GemmSizes<T>& g, const ProductTiles& tiles, const T* a, const T* b,
                  const T* packed, T* c) {
  tiles.run(context, time_of(g), [&](const Tile& tile) {
    GemmSizes<T> part = g;
    part.m = tile.bottom - tile.top, part.n = tile.right - tile.left;
    part.lda = stride_of_a(g), part.ldb = stride_of_b(g), part.ldc = stride_of_c(g);
    run_by_panels(context, part, a + tile.top * (g.transpose_a ? 1 : part.lda),
                  b + tile.left * (g.transpose_b ? part.ldb : 1), PackedB<T>{packed, g.n, tile.left},
                  c + tile.top * part.ldc + tile.left);
  });
}

// One row or one column of C.
template <class T>
void run_as_vector(KernelContext& context, const GemmSizes<T>& g, const T* a, const T* b, T* c) {
  constexpr int64_t kUnit = 256;  // results, so that a range reads long parts of rows
  const bool add = g.beta != T(0), one_row = g.m == 1;
  const int64_t lda = stride_of_a(g), ldb = stride_of_b(g), ldc = stride_of_c(g), length = one_row ? g.n : g.m;
  using matrix_vector::Product;
  const auto product = one_row
                           ? Product<T>{b, ldb, !g.transpose_b, a, g.transpose_a ? lda : 1, g.k, c, 1, add, g.alpha}
                           : Product<T>{a, lda, g.transpose_a, b, g.transpose_b ? 1 : ldb, g.k, c, ldc, add, g.alpha};
  parallel_for(context, {length, time_of(g) / static_cast<double>(length), kUnit}, [&](int64_t begin, int64_t end) {
    product.run(begin, end);
    StoredParts<T> stored(context);
    T* to = c + begin * product.y_step;
    if (product.y_step == 1) stored.add(to, end - begin);
    else add_rows(stored, to, ldc, end - begin, 1);
  });
}

}  // namespace

template <class T>
Gemm<T>::Gemm(const GemmSizes<T>& sizes, int threads) : sizes_(sizes) {
  const GemmSizes<T>& g = sizes_;
  if (is_vector(g)) return;
  ProductTiles tiles = tiles_of(g);
  tiles.split(threads, time_of(g), g.transpose_a ? g.m : g.m / 4);  // rows of A that are not transposed are only read
  high_ = tiles.high, wide_ = tiles.wide;
}

template <class T>
Gemm<T>::Gemm(const GemmSizes<T>& sizes, const KernelInit& init, const char* port, size_t i)
    : Gemm(sizes, init.threads()) {
  const GemmSizes<T>& g = sizes_;
  if (is_vector(g)) return;
  const auto elements = static_cast<size_t>(g.k * PackedB<T>::columns(g.n));
  packed_b_ = init.packed(port, "panels of a product", {g.k, g.n, g.ldb, g.transpose_b}, elements * sizeof(T), i);
}

template <class T>
void Gemm<T>::run(KernelContext& context, const T* a, const T* b, T* c) const {
  const GemmSizes<T>& g = sizes_;
  if (g.m == 0 || g.n == 0) return;
  if (g.beta != T(0) && g.beta != T(1)) {
    for (int64_t i = 0; i < g.m; ++i) {
      T* row = c + i * stride_of_c(g);
      for (int64_t j = 0; j < g.n; ++j) row[j] *= g.beta;
    }
  }
  if (is_vector(g)) return run_as_vector(context, g, a, b, c);
  const T* all = nullptr;
  if (packed_b_) all = packed<T>(*packed_b_, context, [&](T* to) { pack_all(context, g, b, to); });
  ProductTiles tiles = tiles_of(g, high_, wide_);
  if (!all) tiles.columns = Vec<T>::size;  // each tile packs its own panels, so the last one may be narrow
  run_in_tiles(context, g, tiles, a, b, all, c);
}

template <class T>
void Gemm<T>::run_many(KernelContext& context, int64_t count, const T* a, int64_t step_a, const T* b, int64_t step_b,
                       T* c, int64_t step_c) const {
  run_batch(context, count, time_of(sizes_),
            [&](int64_t i) { run(context, a + i * step_a, b + i * step_b, c + i * step_c); });
}

template class Gemm<float>;
template class Gemm<double>;

}  // namespace paddle_mini
