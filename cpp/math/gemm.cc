// Matrix products: large ones by panels of B that stay in the nearest cache while a block of A stays in the next one;
// small and narrow ones by Eigen, whose heavy templates are instantiated here and nowhere else.
#include "math/gemm.h"

#include <memory>

#include <Eigen/Core>

#include "math/gemm_block.h"

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
void run_by_eigen(const Gemm<T>& g, const T* a, const T* b, T* c) {
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

using gemm_block::kWidth;

// Rows of a block: its sums, a row of the panel and a factor must fit into the registers, 32 or 16 of them.
template <class T>
constexpr int kRows = sizeof(Vec<T>) == 64 ? 14 : sizeof(Vec<T>) == 32 ? 6 : 4;
template <class T>
constexpr int64_t kStep = (kRows<T> + Vec<T>::size - 1) / Vec<T>::size * Vec<T>::size;  // from depth to depth
template <class T>
constexpr int64_t kDepth = 2048 / sizeof(T);  // of a stretch of k: a panel's takes 64 KiB with the widest registers
template <class T>
constexpr int64_t kBlock = (1 << 20) / sizeof(T);  // elements of a block of A: half of the cache that it stays in

// What one product overwrites. A thread keeps its own from product to product.
template <class T>
struct Workspace {
  alignas(64) T panel[kWidth<T> * (kDepth<T> + 8)];  // reads ahead may go past the end
  alignas(64) T a[(kBlock<T> / kRows<T> + 2 * kDepth<T>) * kStep<T>];
};

template <class T>
Workspace<T>& workspace() {
  static thread_local std::unique_ptr<Workspace<T>> here(new Workspace<T>);
  return *here;
}

// Rows of op(A) that is stored transposed, as blocks of kRows: the factors of one depth lie behind each other.
template <class T>
void pack_rows(const T* a, int64_t lda, int64_t rows, int64_t depth, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  for (int64_t i = 0; i < rows; i += kRows<T>, to += depth * kStep<T>) {
    for (int64_t part = 0; part < kStep<T> && i + part < rows; part += lanes) {
      const T* from = a + i + part;
      int64_t count = std::min(lanes, rows - i - part);
      for (int64_t l = 0; l < depth; ++l) {
        T* at = to + l * kStep<T> + part;
        if (count == lanes) Vec<T>::load(from + l * lda).store(at);
        else map_loop::load_part(from + l * lda, count).store(at);
      }
    }
  }
}

// The panels of B, in the order they are used. Their memory is far: it is asked for while the panel before is used.
template <class T>
struct Panels {
  const T* b;
  int64_t ldb;
  bool transposed;
  int64_t depth, n;

  const T* at(int64_t j) const { return transposed ? b + j * ldb : b + j; }
  int64_t columns(int64_t j) const { return std::min(kWidth<T>, n - j); }
  void pack(int64_t j, T* panel) const {
    gemm_block::pack_panel(at(j), ldb, transposed, depth, columns(j), panel);
  }
  // The share `part` of `parts` of panel j.
  void fetch(int64_t j, int64_t part, int64_t parts) const {
    if (j >= n) return;
    constexpr int64_t line = 64 / sizeof(T);
    int64_t rows = transposed ? columns(j) : depth, length = transposed ? depth : columns(j);
    for (int64_t l = rows * part / parts; l < rows * (part + 1) / parts; ++l) {
      const T* row = at(j) + l * ldb;
      for (int64_t i = 0; i < length; i += line) __builtin_prefetch(row + i, 0, 2);
    }
  }
};

// Blocks of A of about the same height: a last one of few rows would not be worth laying out B again.
template <class T>
int64_t rows_of_block(int64_t m, int64_t depth) {
  int64_t most = kBlock<T> / depth, count = (m + most - 1) / most, rows = (m + count - 1) / count;
  return (rows + kRows<T> - 1) / kRows<T> * kRows<T>;
}

template <class T>
void run_by_panels(const Gemm<T>& g, const T* a, const T* b, T* c) {
  constexpr int64_t height = kRows<T>;
  int64_t lda = g.lda ? g.lda : g.transpose_a ? g.m : g.k, ldb = g.ldb ? g.ldb : g.transpose_b ? g.k : g.n;
  int64_t ldc = g.ldc ? g.ldc : g.n, stretches = (g.k + kDepth<T> - 1) / kDepth<T>;
  Workspace<T>& w = workspace<T>();
  for (int64_t s = 0; s < stretches; ++s) {
    int64_t from = g.k * s / stretches, depth = g.k * (s + 1) / stretches - from;
    Panels<T> panels{g.transpose_b ? b + from : b + from * ldb, ldb, g.transpose_b, depth, g.n};
    bool add = s > 0 || g.beta != T(0);
    int64_t tall = rows_of_block<T>(g.m, depth);
    for (int64_t top = 0; top < g.m; top += tall) {
      int64_t rows = std::min(tall, g.m - top), blocks = (rows + height - 1) / height;
      const T* block = g.transpose_a ? w.a : a + top * lda + from;
      if (g.transpose_a) pack_rows(a + from * lda + top, lda, rows, depth, w.a);
      int64_t row_step = g.transpose_a ? 1 : lda, depth_step = g.transpose_a ? kStep<T> : 1;
      int64_t block_step = g.transpose_a ? depth * kStep<T> : height * lda;
      for (int64_t j = 0; j < g.n; j += kWidth<T>) {
        panels.pack(j, w.panel);
        for (int64_t i = 0, part = 0; i < rows; i += height, ++part) {
          panels.fetch(j + kWidth<T>, part, blocks);
          gemm_block::multiply_rows<kRows<T>, T>(std::min(height, rows - i), depth, block + part * block_step, row_step,
                                                 depth_step, static_cast<const T*>(w.panel), c + (top + i) * ldc + j,
                                                 ldc, panels.columns(j), add, g.alpha);
        }
      }
    }
  }
}

}  // namespace

template <class T>
void Gemm<T>::run(Device&, const T* a, const T* b, T* c) const {
  // Laying out B costs as much as the product with a few rows of A.
  bool large = m >= 2 * kRows<T> && n >= kWidth<T> && k >= 16;
  if (!large) return run_by_eigen(*this, a, b, c);
  if (beta != T(0) && beta != T(1)) {
    for (int64_t i = 0; i < m; ++i) {
      T* row = c + i * (ldc ? ldc : n);
      for (int64_t j = 0; j < n; ++j) row[j] *= beta;
    }
  }
  run_by_panels(*this, a, b, c);
}

template struct Gemm<float>;
template struct Gemm<double>;

}  // namespace paddle_mini
