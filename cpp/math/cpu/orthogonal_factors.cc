// The QR decomposition of one matrix by Eigen.
#include "math/cpu/orthogonal_factors.h"

#include <Eigen/QR>

namespace paddle_mini {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

template <class T>
void qr_factors(const T* a, int64_t rows, int64_t columns, int64_t q_columns, T* q, int64_t r_rows, T* r) {
  if (rows == 0 || columns == 0) {
    if (q) Eigen::Map<Matrix<T>>(q, rows, q_columns).setIdentity();
    return;
  }
  Eigen::HouseholderQR<Matrix<T>> qr(Eigen::Map<const Matrix<T>>(a, rows, columns));
  Eigen::Map<Matrix<T>>(r, r_rows, columns) = qr.matrixQR().topRows(r_rows).template triangularView<Eigen::Upper>();
  if (!q) return;
  Matrix<T> factor = Matrix<T>::Identity(rows, q_columns);
  factor.applyOnTheLeft(qr.householderQ());
  Eigen::Map<Matrix<T>>(q, rows, q_columns) = factor;
}

template void qr_factors(const float*, int64_t, int64_t, int64_t, float*, int64_t, float*);
template void qr_factors(const double*, int64_t, int64_t, int64_t, double*, int64_t, double*);

}  // namespace paddle_mini
