// PackedGemm: the loops around the blocks of gemm_block.h.
#include "math/cpu/packed_gemm.h"

#include <algorithm>

#include "core/parallel.h"
#include "math/cpu/gemm_block.h"

namespace paddle_mini {
namespace {

using gemm_block::Fetch;
using gemm_block::kRows;
using gemm_block::kWidth;

constexpr int64_t kDepth = 256;      // depth of a segment of k, so that its panel stays in L1
constexpr int64_t kRowsAtOnce = 32;  // rows of C computed per panel while it is in cache

// The product on one thread.
template <class T>
void multiply(int64_t k, int64_t n, int64_t m, const T* a, int64_t lda, const T* packed, T* c, int64_t ldc, bool add) {
  if (k == 0 && !add)
    for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T(0));
  for (int64_t top = 0; top < m; top += kRowsAtOnce) {
    int64_t bottom = std::min(m, top + kRowsAtOnce);
    for (int64_t from = 0; from < k; from += kDepth) {
      int64_t depth = std::min(kDepth, k - from);
      if (bottom - top <= gemm_block::kFewRows) {
        gemm_block::multiply_few_rows<T, Fetch::Panel>(bottom - top, depth, a + top * lda + from, lda, 1,
                                                       packed + from * kWidth<T>, kWidth<T> * k, c + top * ldc, ldc, n,
                                                       add || from > 0, T(1));
        continue;
      }
      for (int64_t j = 0; j < n; j += kWidth<T>) {
        const T* panel = packed + j * k + from * kWidth<T>;
        each_block(bottom - top, kRows<T>, [&](int64_t first, int rows) {
          const int64_t i = top + first;
          gemm_block::multiply_panel<T, Fetch::Panel>(rows, depth, a + i * lda + from, lda, 1, panel, c + i * ldc + j,
                                                      ldc, n - j, add || from > 0, T(1));
        });
      }
    }
  }
}

}  // namespace

template <class T>
int64_t PackedGemm<T>::packed_size() const {
  return (n + kWidth<T> - 1) / kWidth<T> * kWidth<T> * k;
}

template <class T>
void PackedGemm<T>::pack(const T* b, int64_t ldb, bool transposed, T* packed) const {
  for (int64_t j = 0; j < n; j += kWidth<T>, packed += kWidth<T> * k) {
    const T* columns = transposed ? b + j * ldb : b + j;
    gemm_block::pack_panel(columns, ldb, transposed, k, std::min(kWidth<T>, n - j), packed);
  }
}

template <class T>
void PackedGemm<T>::run(KernelContext& context, int64_t m, const T* a, int64_t lda, const T* packed, T* c, int64_t ldc,
                        bool add) const {
  const double elements = static_cast<double>(k * kWidth<T>);
  const double cost = std::max(bytes_cost(elements * sizeof(T)), flops_cost(2.0 * elements * static_cast<double>(m)));
  const int64_t panels = (n + kWidth<T> - 1) / kWidth<T>, of_thread = (panels + context.threads - 1) / context.threads;
  // One range for each thread: the next step waits for the last one.
  parallel_for(context, {panels, cost, of_thread}, [&](int64_t begin, int64_t end) {
    const int64_t left = begin * kWidth<T>;
    multiply(k, std::min(end * kWidth<T>, n) - left, m, a, lda, packed + left * k, c + left, ldc, add);
  });
}

template struct PackedGemm<float>;
template struct PackedGemm<double>;

}  // namespace paddle_mini
