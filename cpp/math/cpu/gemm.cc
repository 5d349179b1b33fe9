// Matrix products. They keep a block of B in the L2 cache while streaming A and C, each once; those with one row and
// narrow ones use Eigen, whose heavy templates are instantiated only here.
#include "math/gemm.h"

#include <memory>

#include <Eigen/Core>

#include "math/cpu/gemm_block.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/product_tiles.h"

namespace paddle_mini {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using View = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
using Target = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

template <class T, class A, class B>
void multiply(const A& a, const B& b, T alpha, T beta, Target<T>& c) {
  if (beta == T(0)) {
    if (alpha == T(1)) c.noalias() = a * b;
    else c.noalias() = alpha * (a * b);
    return;
  }
  if (beta != T(1)) c *= beta;
  c.noalias() += alpha * (a * b);
}

template <class T>
void run_by_eigen(const GemmSizes<T>& g, const T* a, const T* b, T* c) {
  bool transpose_a = g.transpose_a, transpose_b = g.transpose_b;
  int64_t m = g.m, n = g.n, k = g.k;
  auto stride = [](int64_t given, int64_t columns) { return Eigen::OuterStride<>(given ? given : columns); };
  View<T> left(a, transpose_a ? k : m, transpose_a ? m : k, stride(g.lda, transpose_a ? m : k));
  View<T> right(b, transpose_b ? n : k, transpose_b ? k : n, stride(g.ldb, transpose_b ? k : n));
  Target<T> result(c, m, n, stride(g.ldc, n));
  if (k == 0) {
    if (g.beta == T(0)) result.setZero();
    else result *= g.beta;
    return;
  }
  if (transpose_a && transpose_b) multiply(left.transpose(), right.transpose(), g.alpha, g.beta, result);
  else if (transpose_a) multiply(left.transpose(), right, g.alpha, g.beta, result);
  else if (transpose_b) multiply(left, right.transpose(), g.alpha, g.beta, result);
  else multiply(left, right, g.alpha, g.beta, result);
}

using gemm_block::kRows;
using gemm_block::kWidth;

template <class T>
constexpr int64_t kStep = (kRows<T> + Vec<T>::size - 1) / Vec<T>::size * Vec<T>::size;  // depth stride in packed A
template <class T>
constexpr int64_t kDepth = 2048 / sizeof(T);  // depth of a segment of k: A's rows for a block of B stay in cache
template <class T>
constexpr int64_t kBlock = (1 << 20) / sizeof(T);  // elements of a block of B: half of the L2 cache
template <class T>
constexpr int64_t kTogether = 8 * kRows<T>;  // rows of a transposed A that are packed together, in full cache lines

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
  alignas(64) T a[kTogether<T> / kRows<T> * kDepth<T> * kStep<T>];
};

template <class T>
Workspace<T>& workspace() {
  static thread_local std::unique_ptr<Workspace<T>> here(new Workspace<T>);
  return *here;
}

// Packs rows of an op(A) that is stored transposed into blocks of kRows; the factors of one depth are adjacent.
template <class T>
void pack_rows(const T* a, int64_t lda, int64_t rows, int64_t depth, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  for (int64_t l = 0; l < depth; ++l, a += lda, to += kStep<T>) {
    T* at = to;
    for (int64_t i = 0; i < rows; i += kRows<T>, at += depth * kStep<T>) {
      for (int64_t part = 0; part < kStep<T> && i + part < rows; part += lanes) {
        if (i + part + lanes <= rows) Vec<T>::load(a + i + part).store(at + part);
        else map_loop::load_part(a + i + part, rows - i - part).store(at + part);
      }
    }
  }
}

template <class T>
int64_t stride_of_b(const GemmSizes<T>& g) {
  return g.ldb ? g.ldb : g.transpose_b ? g.k : g.n;
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
  int64_t most = kBlock<T> / depth / kWidth<T>, panels = (n + kWidth<T> - 1) / kWidth<T>;
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

// Calls f(begin, depth) for the segments of k.
template <class T, class F>
void each_segment(int64_t k, F f) {
  int64_t segments = (k + kDepth<T> - 1) / kDepth<T>;
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

template <class T>
void run_by_panels(const KernelContext& context, const GemmSizes<T>& g, const T* a, const T* b,
                   const PackedB<T>& packed, T* c) {
  int64_t lda = g.lda ? g.lda : g.transpose_a ? g.m : g.k, ldc = g.ldc ? g.ldc : g.n;
  Workspace<T>& w = workspace<T>();
  StoredParts<T> stored(context);
  each_segment<T>(g.k, [&](int64_t from, int64_t depth) {
    bool add = from > 0 || g.beta != T(0);
    int64_t row_step = g.transpose_a ? 1 : lda, depth_step = g.transpose_a ? kStep<T> : 1;
    int64_t wide = columns_of_block<T>(g.n, depth);
    for (int64_t left = 0; left < g.n; left += wide) {
      int64_t right = std::min(g.n, left + wide);
      const T* panels = packed.panels ? packed.at(from, depth, left) : w.b;
      if (!packed.panels) pack_panels(g, b, from, depth, left, right, w.b);
      for (int64_t top = 0; top < g.m; top += kTogether<T>) {
        int64_t bottom = std::min(g.m, top + kTogether<T>);
        const T* rows = g.transpose_a ? w.a : a + top * lda + from;
        if (g.transpose_a) pack_rows(a + from * lda + top, lda, bottom - top, depth, w.a);
        // Blocks of nearly equal height: 16 rows as 8 and 8, because 14 and 2 read as much of B for two rows.
        const int64_t blocks = (bottom - top + kRows<T> - 1) / kRows<T>;
        const int64_t height = g.transpose_a ? kRows<T> : (bottom - top + blocks - 1) / blocks;
        for (int64_t i = top; i < bottom; i += height, rows += g.transpose_a ? depth * kStep<T> : height * lda) {
          const T* panel = panels;
          for (int64_t j = left; j < right; j += kWidth<T>, panel += depth * kWidth<T>) {
            gemm_block::multiply_rows<kRows<T>, T, true>(std::min(height, bottom - i), depth, rows, row_step,
                                                         depth_step, panel, c + i * ldc + j, ldc,
                                                         std::min(kWidth<T>, right - j), add, g.alpha);
          }
          if (from + depth == g.k) {
            add_rows(stored, c + i * ldc + left, ldc, std::min(height, bottom - i), right - left);
          }
        }
      }
    }
  });
}

template <class T>
double time_of(const GemmSizes<T>& g) {
  return flops_cost(2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k));
}

template <class T, class Run>
void run_tile(const GemmSizes<T>& g, const Tile& tile, const T* a, const T* b, T* c, Run run) {
  GemmSizes<T> part = g;
  part.m = tile.bottom - tile.top, part.n = tile.right - tile.left;
  part.lda = g.lda ? g.lda : g.transpose_a ? g.m : g.k;
  part.ldb = stride_of_b(g);
  part.ldc = g.ldc ? g.ldc : g.n;
  run(part, a + tile.top * (g.transpose_a ? 1 : part.lda), b + tile.left * (g.transpose_b ? part.ldb : 1),
      c + tile.top * part.ldc + tile.left);
}

// One row reads B once, at the speed of memory; narrow panels and short sums leave registers idle. It depends on sizes
// alone, so that B has the same sums packed before the run and packed by it.
template <class T>
bool is_large(const GemmSizes<T>& g) {
  return g.m > 1 && g.n >= kWidth<T> && g.k >= 16;
}

template <class T>
ProductTiles tiles_of(const GemmSizes<T>& g, int64_t high = 1, int64_t wide = 1) {
  return {g.m, g.n, kRows<T>, kWidth<T>, high, wide};
}

template <class T>
void run_in_tiles(KernelContext& context, const GemmSizes<T>& g, const ProductTiles& tiles, const T* a, const T* b,
                  const T* packed, T* c) {
  tiles.run(context, time_of(g), [&](const Tile& tile) {
    run_tile(g, tile, a, b, c, [&](const GemmSizes<T>& part, const T* rows, const T* columns, T* to) {
      run_by_panels(context, part, rows, columns, PackedB<T>{packed, g.n, tile.left}, to);
    });
  });
}

// One row, few columns or a short sum. Eigen chooses the order of sums by sizes, so the tiles have fixed ones.
template <class T>
void run_in_strips(KernelContext& context, const GemmSizes<T>& g, const T* a, const T* b, T* c) {
  constexpr int64_t kStrip = 512;
  const bool by_column = g.n >= g.m;
  const int64_t length = by_column ? g.n : g.m, strips = (length + kStrip - 1) / kStrip;
  const LoopSize size{strips, time_of(g) / static_cast<double>(std::max<int64_t>(strips, 1))};
  parallel_for(context, size, [&](int64_t begin, int64_t end) {
    StoredParts<T> stored(context);
    for (int64_t i = begin; i < end; ++i) {
      int64_t from = i * kStrip, to = std::min(from + kStrip, length);
      Tile tile = by_column ? Tile{0, g.m, from, to} : Tile{from, to, 0, g.n};
      run_tile(g, tile, a, b, c, run_by_eigen<T>);
      const int64_t ldc = g.ldc ? g.ldc : g.n;
      add_rows(stored, c + tile.top * ldc + tile.left, ldc, tile.bottom - tile.top, tile.right - tile.left);
    }
  });
}

}  // namespace

template <class T>
Gemm<T>::Gemm(const GemmSizes<T>& sizes, int threads) : sizes_(sizes) {
  const GemmSizes<T>& g = sizes_;
  if (!is_large(g)) return;
  ProductTiles tiles = tiles_of(g);
  tiles.split(threads, time_of(g), g.transpose_a ? g.m : g.m / 4);  // rows of A that are not transposed are only read
  high_ = tiles.high, wide_ = tiles.wide;
}

template <class T>
Gemm<T>::Gemm(const GemmSizes<T>& sizes, const KernelInit& init, const char* port, size_t i)
    : Gemm(sizes, init.threads()) {
  const GemmSizes<T>& g = sizes_;
  if (!is_large(g)) return;
  const auto elements = static_cast<size_t>(g.k * PackedB<T>::columns(g.n));
  packed_b_ = init.packed(port, "panels of a product", {g.k, g.n, g.ldb, g.transpose_b}, elements * sizeof(T), i);
}

template <class T>
void Gemm<T>::run(KernelContext& context, const T* a, const T* b, T* c) const {
  const GemmSizes<T>& g = sizes_;
  if (!is_large(g)) return run_in_strips(context, g, a, b, c);
  if (g.beta != T(0) && g.beta != T(1)) {
    for (int64_t i = 0; i < g.m; ++i) {
      T* row = c + i * (g.ldc ? g.ldc : g.n);
      for (int64_t j = 0; j < g.n; ++j) row[j] *= g.beta;
    }
  }
  const T* all = nullptr;
  if (packed_b_) all = packed<T>(*packed_b_, context, [&](T* to) { pack_all(context, g, b, to); });
  run_in_tiles(context, g, tiles_of(g, high_, wide_), a, b, all, c);
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
