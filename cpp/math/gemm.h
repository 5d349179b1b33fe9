// Gemm: row-major matrix products.
#pragma once

#include <cstdint>
#include <memory>

#include "core/half.h"
#include "core/packed_store.h"
#include "core/target.h"

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
  Computed<T> alpha = 1, beta = 0;
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
  // Whether they add the parts of C to StoredParts.
  static constexpr bool kStoresParts = !kOnGpu;

 private:
  GemmSizes<T> sizes_;
  int64_t high_ = 1, wide_ = 1;  // on a CPU: the rows and columns of tiles into which C is split
  std::shared_ptr<PackedCopy> packed_b_;  // on a CPU
};

extern template class Gemm<float>;
extern template class Gemm<double>;

// Whether this library is compiled with products of bfloat16. They run where OpTable::multiplies_bfloat16().
#if defined(__AVX512BW__)
inline constexpr bool kHasBFloat16Gemm = !kOnGpu;
#else
inline constexpr bool kHasBFloat16Gemm = false;
#endif

// The same for A and B of bfloat16, with sums in float32. C is bfloat16, and rounded once, or float.
template <class C>
class BFloat16Gemm {
 public:
  BFloat16Gemm() = default;
  BFloat16Gemm(const GemmSizes<BFloat16>& sizes, int threads);
  BFloat16Gemm(const GemmSizes<BFloat16>& sizes, const KernelInit& init, const char* port, size_t i = 0);

  void run(KernelContext& context, const BFloat16* a, const BFloat16* b, C* c) const;
  void run_many(KernelContext& context, int64_t count, const BFloat16* a, int64_t step_a, const BFloat16* b,
                int64_t step_b, C* c, int64_t step_c) const;
  static constexpr bool kStoresParts = false;

 private:
  GemmSizes<BFloat16> sizes_;
  int64_t high_ = 1, wide_ = 1;
  std::shared_ptr<PackedCopy> packed_b_;
};

template <>
class Gemm<BFloat16> : public BFloat16Gemm<BFloat16> {
 public:
  using BFloat16Gemm::BFloat16Gemm;
};

extern template class BFloat16Gemm<BFloat16>;
extern template class BFloat16Gemm<float>;

}  // namespace paddle_mini
