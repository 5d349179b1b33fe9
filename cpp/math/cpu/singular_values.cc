// The singular value decomposition of one matrix by one-sided Jacobi rotations.
#include "math/cpu/singular_values.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "math/cpu/matrix_functions.h"

namespace paddle_mini {
namespace {

// Computed in double for float too: sums of squares then neither overflow nor underflow.
using Column = Eigen::Map<Eigen::VectorXd>;

constexpr int kMostSweeps = 60;  // about 10 are enough for random matrices of 1,000 columns

// `count` vectors of one length, one after another.
struct Columns {
  int64_t length, count;
  std::vector<double> numbers;

  Columns(int64_t length, int64_t count) : length(length), count(count), numbers(static_cast<size_t>(length * count)) {}
  double* data(int64_t i) { return numbers.data() + i * length; }
  Column operator[](int64_t i) { return Column(data(i), length); }
};

void rotate(Column a, Column b, double cosine, double sine) {
  for (int64_t i = 0; i < a.size(); ++i) {
    double x = a[i], y = b[i];
    a[i] = cosine * x - sine * y;
    b[i] = sine * x + cosine * y;
  }
}

// Rotates pairs of columns until all are orthogonal, and the columns of v likewise (Demmel and Veselic, Jacobi's method is
// more accurate than QR, 1992).
void orthogonalize(Columns& w, Columns& v) {
  double smallest =
      std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(std::max<int64_t>(w.length, 1)));
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMostSweeps; ++sweep) {
    rotated = false;
    for (int64_t i = 0; i + 1 < w.count; ++i) {
      for (int64_t j = i + 1; j < w.count; ++j) {
        Column a = w[i], b = w[j];
        double aa = a.squaredNorm(), bb = b.squaredNorm(), ab = a.dot(b);
        if (std::abs(ab) <= smallest * std::sqrt(aa) * std::sqrt(bb)) continue;
        rotated = true;
        double slope = (bb - aa) / (2 * ab);
        double tangent = (slope < 0 ? -1 : 1) / (std::abs(slope) + std::hypot(1.0, slope));
        double cosine = 1 / std::hypot(1.0, tangent);
        rotate(a, b, cosine, cosine * tangent);
        rotate(v[i], v[j], cosine, cosine * tangent);
      }
    }
  }
}

// Replaces the columns from `known` on by unit vectors that are orthogonal to all others.
void complete_basis(Columns& basis, int64_t known) {
  int64_t n = basis.length;
  if (known == basis.count) return;
  std::vector<double> first(static_cast<size_t>(n * known)), q(static_cast<size_t>(n * n)),
      r(static_cast<size_t>(known * known));
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t i = 0; i < known; ++i) first[static_cast<size_t>(row * known + i)] = basis.data(i)[row];
  }
  qr_factors(first.data(), n, known, n, q.data(), known, r.data());
  for (int64_t i = known; i < basis.count; ++i) {
    for (int64_t row = 0; row < n; ++row) basis.data(i)[row] = q[static_cast<size_t>(row * n + i)];
  }
}

// The vectors of a basis in the columns of a row-major matrix, or in its rows.
template <class T>
void write_vectors(Columns& basis, bool in_rows, T* to) {
  for (int64_t i = 0; i < basis.count; ++i) {
    for (int64_t row = 0; row < basis.length; ++row) {
      to[in_rows ? i * basis.length + row : row * basis.count + i] = static_cast<T>(basis.data(i)[row]);
    }
  }
}

}  // namespace

// The rotations work on the shorter side: the columns of a tall matrix, the rows of a wide one.
template <class T>
bool singular_decomposition(const T* a, int64_t rows, int64_t columns, bool full, T* u, T* s, T* vh) {
  bool wide = rows < columns;
  int64_t length = std::max(rows, columns), k = std::min(rows, columns);
  double scale = 0;
  for (int64_t i = 0; i < rows * columns; ++i) {
    if (!std::isfinite(a[i])) return false;
    scale = std::max(scale, std::abs(static_cast<double>(a[i])));
  }
  if (scale == 0) scale = 1;
  Columns w(length, k), v(k, k);
  for (int64_t i = 0; i < k; ++i) {
    v.data(i)[i] = 1;
    for (int64_t j = 0; j < length; ++j) {
      w.data(i)[j] = static_cast<double>(a[wide ? i * columns + j : j * columns + i]) / scale;
    }
  }
  orthogonalize(w, v);
  std::vector<double> norms(static_cast<size_t>(k));
  for (int64_t i = 0; i < k; ++i) norms[static_cast<size_t>(i)] = w[i].norm();
  std::vector<int64_t> order(norms.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
    return norms[static_cast<size_t>(one)] > norms[static_cast<size_t>(other)];
  });
  Columns long_side(length, full ? length : k), short_side(k, k);
  int64_t known = 0;  // vectors of the long side; a singular value of 0 has none
  for (int64_t i = 0; i < k; ++i) {
    int64_t from = order[static_cast<size_t>(i)];
    double norm = norms[static_cast<size_t>(from)];
    s[i] = static_cast<T>(norm * scale);
    short_side[i] = v[from];
    if (norm > 0) long_side[i] = w[from] / norm, known = i + 1;
  }
  if (!u || !vh) return true;
  complete_basis(long_side, known);
  write_vectors(wide ? short_side : long_side, false, u);
  write_vectors(wide ? long_side : short_side, true, vh);
  return true;
}

template bool singular_decomposition(const float*, int64_t, int64_t, bool, float*, float*, float*);
template bool singular_decomposition(const double*, int64_t, int64_t, bool, double*, double*, double*);

}  // namespace paddle_mini
