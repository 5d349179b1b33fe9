// Matrix products on a GPU: by cuBLAS, or, if it is not available, by tiles of 64 by 64 elements.
#include "math/gemm.h"

#include "cuda/cublas.h"
#include "cuda/launch.h"
#include "math/number.h"

namespace paddle_mini {
namespace {

// A block computes a tile of C; each of its threads computes every 16th element in both directions.
template <class T>
struct Squares {
  static constexpr bool syncs = true;
  static constexpr int kSide = 64, kDepth = 16, kEach = 4, kApart = kSide / kEach;
  MatrixProducts<T> p;

  PM_DEVICE void operator()() const {
    PM_SHARED T a[kDepth][kSide + 1], b[kDepth][kSide + 1];
    int64_t down = (p.m + kSide - 1) / kSide, across = (p.n + kSide - 1) / kSide;
    for (int64_t task = block_index(); task < p.count * down * across; task += block_count()) {
      int64_t product = task / (down * across), row = task / across % down * kSide, column = task % across * kSide;
      T sums[kEach][kEach] = {};
      for (int64_t depth = 0; depth < p.k; depth += kDepth) {
        load(p.a + product * p.step_a, p.lda, p.transpose_a, row, p.m, depth, a);
        load(p.b + product * p.step_b, p.ldb, !p.transpose_b, column, p.n, depth, b);
        sync_block();
        multiply(a, b, sums);
        sync_block();
      }
      store(p.c + product * p.step_c, row, column, sums);
    }
  }

  // Loads rows of op(A), or columns of op(B), from `first` on; `across` if elements of one depth are contiguous.
  PM_DEVICE void load(const T* from, int64_t ld, bool across, int64_t first, int64_t end, int64_t depth,
                      T (&to)[kDepth][kSide + 1]) const {
    for (int e = thread_index(); e < kSide * kDepth; e += kThreads) {
      int i = across ? e % kSide : e / kDepth, l = across ? e / kSide : e % kDepth;
      bool inside = first + i < end && depth + l < p.k;
      to[l][i] = !inside ? T(0) : across ? from[(depth + l) * ld + first + i] : from[(first + i) * ld + depth + l];
    }
  }

  PM_DEVICE void multiply(const T (&a)[kDepth][kSide + 1], const T (&b)[kDepth][kSide + 1],
                          T (&sums)[kEach][kEach]) const {
    int x = thread_index() % kApart, y = thread_index() / kApart;
#pragma unroll
    for (int l = 0; l < kDepth; ++l) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
          sums[i][j] = multiply_add(a[l][y + kApart * i], b[l][x + kApart * j], sums[i][j]);
        }
      }
    }
  }

  PM_DEVICE void store(T* c, int64_t row, int64_t column, const T (&sums)[kEach][kEach]) const {
    int x = thread_index() % kApart, y = thread_index() / kApart;
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) {
        int64_t r = row + y + kApart * i, at = column + x + kApart * j;
        if (r >= p.m || at >= p.n) continue;
        T& to = c[r * p.ldc + at];
        to = p.beta == T(0) ? p.alpha * sums[i][j] : p.alpha * sums[i][j] + p.beta * to;
      }
    }
  }
};

}  // namespace

template <class T>
Gemm<T>::Gemm(const GemmSizes<T>& sizes, int) : sizes_(sizes) {}

template <class T>
Gemm<T>::Gemm(const GemmSizes<T>& sizes, const KernelInit&, const char*, size_t) : sizes_(sizes) {}

template <class T>
void Gemm<T>::run(KernelContext& context, const T* a, const T* b, T* c) const {
  run_many(context, 1, a, 0, b, 0, c, 0);
}

template <class T>
void Gemm<T>::run_many(KernelContext& context, int64_t count, const T* a, int64_t step_a, const T* b, int64_t step_b,
                       T* c, int64_t step_c) const {
  const GemmSizes<T>& g = sizes_;
  if (g.m == 0 || g.n == 0 || count == 0) return;
  MatrixProducts<T> products{g.transpose_a,
                             g.transpose_b,
                             g.m,
                             g.n,
                             g.k,
                             g.lda           ? g.lda
                             : g.transpose_a ? g.m
                                             : g.k,
                             g.ldb           ? g.ldb
                             : g.transpose_b ? g.k
                                             : g.n,
                             g.ldc ? g.ldc : g.n,
                             g.alpha,
                             g.beta,
                             a,
                             b,
                             c,
                             count,
                             step_a,
                             step_b,
                             step_c};
  if (run_by_cublas(context, products)) return;
  constexpr int side = Squares<T>::kSide;
  int64_t squares = (g.m + side - 1) / side * ((g.n + side - 1) / side) * count;
  launch(context, std::min(squares, kMostBlocks), Squares<T>{products});
}

template class Gemm<float>;
template class Gemm<double>;

}  // namespace paddle_mini
