// LU decompositions in plain loops, with LAPACK's choice of pivots.
#include "math/cpu/lu_factors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "math/cpu/matrix_functions.h"

namespace paddle_mini {
namespace {

// The rows [top, bottom) and columns [left, right) of a matrix.
template <class T>
std::vector<T> block_of(const T* a, int64_t width, int64_t top, int64_t bottom, int64_t left, int64_t right) {
  std::vector<T> taken;
  for (int64_t row = top; row < bottom; ++row)
    taken.insert(taken.end(), a + row * width + left, a + row * width + right);
  return taken;
}

template <class T>
std::vector<T> transposed(const std::vector<T>& a, int64_t rows, int64_t columns) {
  std::vector<T> turned(a.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      turned[static_cast<size_t>(column * rows + row)] = a[static_cast<size_t>(row * columns + column)];
    }
  }
  return turned;
}

// to -= a b
template <class T>
void subtract_product(const std::vector<T>& a, const std::vector<T>& b, int64_t rows, int64_t inner, int64_t columns,
                      Transposed how, std::vector<T>& to) {
  if (inner == 0) return;
  std::vector<T> product(to.size());
  multiply(a.data(), b.data(), rows, inner, columns, how, T(1), product.data());
  for (size_t i = 0; i < to.size(); ++i) to[i] -= product[i];
}

}  // namespace

template <class T>
int32_t lu_factors(T* a, int64_t rows, int64_t columns, int32_t* pivots) {
  int32_t zero = 0;
  for (int64_t i = 0; i < std::min(rows, columns); ++i) {
    int64_t best = i;
    for (int64_t row = i + 1; row < rows; ++row) {
      if (std::abs(a[row * columns + i]) > std::abs(a[best * columns + i])) best = row;
    }
    pivots[i] = static_cast<int32_t>(best + 1);
    if (best != i) std::swap_ranges(a + i * columns, a + (i + 1) * columns, a + best * columns);
    const T* top = a + i * columns;
    if (top[i] == T(0)) {
      if (zero == 0) zero = static_cast<int32_t>(i + 1);
      continue;
    }
    for (int64_t row = i + 1; row < rows; ++row) {
      T* below = a + row * columns;
      T factor = below[i] /= top[i];
      for (int64_t column = i + 1; column < columns; ++column) below[column] -= factor * top[column];
    }
  }
  return zero;
}

// With k = min(rows, columns), L = [L1; L2] and U = [U1, U2] whose first blocks are [k, k]: for the matrix of exchanged rows
// G11 = L1^-T Z U1^-T, G12 = L1^-T U2@GRAD, G21 = L2@GRAD U1^-T, where Z has the lower triangle, without its diagonal, of
// L1^T L1@GRAD - U2@GRAD U2^T and the upper one of U1@GRAD U1^T - L2^T L2@GRAD.
template <class T>
void lu_gradient(const T* factors, const T* factors_gradient, int64_t rows, int64_t columns, const int32_t* pivots,
                 T* gradient) {
  int64_t k = std::min(rows, columns), right = columns - k, below = rows - k;
  if (k == 0) return;
  std::vector<T> square = block_of(factors, columns, 0, k, 0, k),
                 gradients = block_of(factors_gradient, columns, 0, k, 0, k);
  std::vector<T> l1(square.size()), u1(square.size()), l1_gradient(square.size()), u1_gradient(square.size());
  for (int64_t i = 0; i < k * k; ++i) {
    bool is_lower = i / k > i % k;
    auto at = static_cast<size_t>(i);
    (is_lower ? l1 : u1)[at] = square[at];
    (is_lower ? l1_gradient : u1_gradient)[at] = gradients[at];
    if (i / k == i % k) l1[at] = T(1);
  }
  std::vector<T> u2 = block_of(factors, columns, 0, k, k, columns), l2 = block_of(factors, columns, k, rows, 0, k);
  std::vector<T> u2_gradient = block_of(factors_gradient, columns, 0, k, k, columns);
  std::vector<T> l2_gradient = block_of(factors_gradient, columns, k, rows, 0, k);
  std::vector<T> lower(square.size()), upper(square.size());
  multiply(l1.data(), l1_gradient.data(), k, k, k, {true, false}, T(1), lower.data());
  multiply(u1_gradient.data(), u1.data(), k, k, k, {false, true}, T(1), upper.data());
  subtract_product(u2_gradient, u2, k, right, k, {false, true}, lower);
  subtract_product(l2, l2_gradient, k, below, k, {true, false}, upper);
  // The right sides of L1^T for all columns: Z U1^-T and U2@GRAD. U1^-T from the right is U1^-1 on transposed rows.
  std::vector<T> z(lower.size());
  for (int64_t i = 0; i < k * k; ++i)
    z[static_cast<size_t>(i)] = (i / k > i % k ? lower : upper)[static_cast<size_t>(i)];
  std::vector<T> turned = transposed(z, k, k), low = transposed(l2_gradient, below, k);
  std::vector<T> middle(turned.size()), last(low.size());
  bool regular = solve_triangle(u1.data(), k, turned.data(), k, {true, false, false}, middle.data());
  if (below > 0)
    regular = solve_triangle(u1.data(), k, low.data(), below, {true, false, false}, last.data()) && regular;
  if (!regular) return void(std::fill_n(gradient, rows * columns, std::numeric_limits<T>::quiet_NaN()));
  middle = transposed(middle, k, k), last = transposed(last, k, below);
  std::vector<T> sides, solved(static_cast<size_t>(k * columns));
  for (int64_t row = 0; row < k; ++row) {
    sides.insert(sides.end(), middle.begin() + row * k, middle.begin() + (row + 1) * k);
    sides.insert(sides.end(), u2_gradient.begin() + row * right, u2_gradient.begin() + (row + 1) * right);
  }
  solve_triangle(l1.data(), k, sides.data(), columns, {false, true, true}, solved.data());
  std::copy(solved.begin(), solved.end(), gradient);
  std::copy(last.begin(), last.end(), gradient + k * columns);  // rows below exist only where columns == k
  for (int64_t i = k - 1; i >= 0; --i) {
    int64_t other = pivots[i] - 1;
    if (other == i) continue;
    std::swap_ranges(gradient + i * columns, gradient + (i + 1) * columns, gradient + other * columns);
  }
}

#define PM_LU_FACTORS(T)                                       \
  template int32_t lu_factors(T*, int64_t, int64_t, int32_t*); \
  template void lu_gradient(const T*, const T*, int64_t, int64_t, const int32_t*, T*);
PM_LU_FACTORS(float)
PM_LU_FACTORS(double)
#undef PM_LU_FACTORS

}  // namespace paddle_mini
