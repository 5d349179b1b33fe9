// Gemm: row-major matrix products. Only gemm.cc instantiates Eigen's product kernels.
#pragma once

#include <cstdint>
#include <memory>

#include "core/packed_store.h"

namespace paddle_mini {

struct KernelContext;
class KernelInit;

// C = alpha op(A) op(B) + beta C with op(A) [m, k], op(B) [k, n], C [m, n]; op optionally transposes. lda, ldb, ldc are
// row strides as stored. C is not read if beta is 0.
template <class T>
struct GemmSizes {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;  // 0: contiguous rows
  T alpha = 1, beta = 0;
};

template <class T>
class Gemm {
 public:
  Gemm() = default;
  Gemm(const GemmSizes<T>& sizes, int threads);  // that run() may use
  // B is always the whole input `port`. If the program never writes it, it is packed once.
  Gemm(const GemmSizes<T>& sizes, const KernelInit& init, const char* port, size_t i = 0);

  void run(KernelContext& context, const T* a, const T* b, T* c) const;
  // Batched: this many products, with these strides between them.
  void run_many(KernelContext& context, int64_t count, const T* a, int64_t step_a, const T* b, int64_t step_b, T* c,
                int64_t step_c) const;

 private:
  GemmSizes<T> sizes_;
  int64_t high_ = 1, wide_ = 1;  // on a CPU: the rows and columns of tiles into which C is split
  std::shared_ptr<PackedStore::Copy> packed_b_;  // on a CPU
};

extern template class Gemm<float>;
extern template class Gemm<double>;

}  // namespace paddle_mini
