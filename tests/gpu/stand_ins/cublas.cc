// Stands for libcublas.so.13: matrices by columns.
#include "stand_in.h"

namespace {

constexpr int kInvalidValue = 7;

struct Context {
  CUstream_st* stream = nullptr;
  void* workspace = nullptr;
  size_t bytes = 0;
};

struct Matrix {
  bool transposed;
  int ld;
  long long at(int row, int column) const {
    return transposed ? row * static_cast<long long>(ld) + column : column * static_cast<long long>(ld) + row;
  }
};

template <class T>
int gemm(Context* context, int transpose_a, int transpose_b, int m, int n, int k, const T* alpha, const T* a, int lda,
         long long step_a, const T* b, int ldb, long long step_b, const T* beta, T* c, int ldc, long long step_c,
         int count) {
  if (!context->stream || !context->workspace) return stand_in::refuse("no stream, or no workspace", kInvalidValue);
  if (m <= 0 || n <= 0 || k <= 0 || count <= 0) return stand_in::refuse("an empty product", kInvalidValue);
  if (lda < (transpose_a ? k : m) || ldb < (transpose_b ? n : k) || ldc < m)
    return stand_in::refuse("columns overlap", kInvalidValue);
  Matrix of_a{transpose_a != 0, lda}, of_b{transpose_b != 0, ldb};
  T one = *alpha, other = *beta;
  context->stream->launch([=] {
    for (int i = 0; i < count; ++i) {
      for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
          T sum = 0;
          for (int l = 0; l < k; ++l) sum += a[i * step_a + of_a.at(row, l)] * b[i * step_b + of_b.at(l, column)];
          T& to = c[i * step_c + column * static_cast<long long>(ldc) + row];
          to = other == T(0) ? one * sum : one * sum + other * to;
        }
      }
    }
  });
  return 0;
}

}  // namespace

extern "C" {

int cublasCreate_v2(Context** made) {
  STAND_IN(cublasCreate_v2);
  *made = new Context;
  return 0;
}

int cublasSetStream_v2(Context* context, CUstream_st* stream) {
  context->stream = stream;
  return 0;
}

int cublasSetWorkspace_v2(Context* context, void* workspace, size_t bytes) {
  context->workspace = workspace;
  context->bytes = bytes;
  return 0;
}

int cublasSgemmStridedBatched(Context* context, int transpose_a, int transpose_b, int m, int n, int k,
                              const float* alpha, const float* a, int lda, long long step_a, const float* b, int ldb,
                              long long step_b, const float* beta, float* c, int ldc, long long step_c, int count) {
  STAND_IN(cublasSgemmStridedBatched);
  return gemm(context, transpose_a, transpose_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c,
              count);
}

int cublasDgemmStridedBatched(Context* context, int transpose_a, int transpose_b, int m, int n, int k,
                              const double* alpha, const double* a, int lda, long long step_a, const double* b, int ldb,
                              long long step_b, const double* beta, double* c, int ldc, long long step_c, int count) {
  STAND_IN(cublasDgemmStridedBatched);
  return gemm(context, transpose_a, transpose_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c,
              count);
}

}  // extern "C"
