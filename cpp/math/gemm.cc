// Matrix products by Eigen. Its heavy templates are instantiated here and nowhere else.
#include "math/gemm.h"

#include <Eigen/Core>

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

}  // namespace

template <class T>
void Gemm<T>::run(Device&, const T* a, const T* b, T* c) const {
  auto stride = [](int64_t given, int64_t columns) { return Eigen::OuterStride<>(given ? given : columns); };
  View<T> left(a, transpose_a ? k : m, transpose_a ? m : k, stride(lda, transpose_a ? m : k));
  View<T> right(b, transpose_b ? n : k, transpose_b ? k : n, stride(ldb, transpose_b ? k : n));
  Target<T> result(c, m, n, stride(ldc, n));
  if (k == 0) {
    if (beta == T(0)) result.setZero();
    else result *= beta;
    return;
  }
  if (transpose_a && transpose_b) multiply(left.transpose(), right.transpose(), alpha, beta, result);
  else if (transpose_a) multiply(left.transpose(), right, alpha, beta, result);
  else if (transpose_b) multiply(left, right.transpose(), alpha, beta, result);
  else multiply(left, right, alpha, beta, result);
}

template struct Gemm<float>;
template struct Gemm<double>;

}  // namespace paddle_mini
