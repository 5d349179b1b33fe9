// qr: Q and R, orthonormal and upper triangular, with Q R = X
#include <limits>

#include "math/cpu/matrix_functions.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

// The sizes of the factors of [rows, columns].
struct QrSizes {
  int64_t rows, columns, inner;  // Q has `inner` columns, and R rows
  bool has_q;

  template <class Context>
  QrSizes(const Context& c, const Shape& x) : rows(x[x.rank() - 2]), columns(x[x.rank() - 1]) {
    const auto& mode = c.template attr<std::string>("mode");
    inner = mode == "complete" ? rows : rows < 0 || columns < 0 ? -1 : std::min(rows, columns);
    has_q = mode != "r";
  }
};

template <class T>
struct QrKernel : Kernel {
  In<T> x;
  Out<T> q, r;
  Matrices matrices;
  QrSizes sizes;

  explicit QrKernel(KernelInit& init)
      : x(init, "X"), q(init, "Q", optional_port), r(init, "R"), matrices(x.shape()), sizes(init, x.shape()) {}

  void run(KernelContext& context) override {
    each_item(context, matrices.loop(), [&](int64_t i) {
      T* orthogonal = sizes.has_q && q ? q.data() + i * sizes.rows * sizes.inner : nullptr;
      qr_factors(x.data() + i * matrices.size(), sizes.rows, sizes.columns, sizes.inner, orthogonal, sizes.inner,
                 r.data() + i * sizes.inner * sizes.columns);
    });
  }
};

// Walter and Lehmann, Algorithmic differentiation of linear algebra functions, 2018: for X with at least as many rows as
// columns, X@GRAD = (Q@GRAD + Q M) R^-T, where M is symmetric and has the lower triangle of R R@GRAD^T - Q@GRAD^T Q. A
// wider X = [Y, Z] has R = [U, Q^T Z], so Z@GRAD = Q V@GRAD, and Q@GRAD of Y gets Z V@GRAD^T more.
template <class T>
struct QrGradKernel : Kernel {
  In<T> x, q, r, q_gradient, r_gradient;
  Out<T> x_gradient;
  Matrices matrices;

  explicit QrGradKernel(KernelInit& init)
      : x(init, "X"), q(init, "Q"), r(init, "R"), q_gradient(init, "Q@GRAD"), r_gradient(init, "R@GRAD"),
        x_gradient(init, "X@GRAD"), matrices(x.shape()) {}

  void run(KernelContext& context) override {
    const int64_t m = matrices.rows, n = matrices.columns, k = std::min(m, n);
    each_item(context, matrices.loop(), [&](int64_t i) {
      one(x.data() + i * m * n, q.data() + i * m * k, r.data() + i * k * n, q_gradient.data() + i * m * k,
          r_gradient.data() + i * k * n, x_gradient.data() + i * m * n);
    });
  }

  // The columns [begin, end) of a matrix of `width` columns.
  static std::vector<T> columns_of(const T* from, int64_t rows, int64_t width, int64_t begin, int64_t end) {
    std::vector<T> taken;
    for (int64_t row = 0; row < rows; ++row) {
      taken.insert(taken.end(), from + row * width + begin, from + row * width + end);
    }
    return taken;
  }

  void one(const T* a, const T* factor, const T* triangle, const T* to_q, const T* to_r, T* to_a) const {
    const int64_t m = matrices.rows, n = matrices.columns, k = std::min(m, n);
    const auto size = static_cast<size_t>(m * k);
    std::vector<T> left(to_q, to_q + size), product(size), square(static_cast<size_t>(k * k)), middle(square.size());
    std::vector<T> u = columns_of(triangle, k, n, 0, k), u_gradient = columns_of(to_r, k, n, 0, k);
    if (n > k) {
      std::vector<T> z = columns_of(a, m, n, k, n), v_gradient = columns_of(to_r, k, n, k, n), z_gradient(z.size());
      multiply(z.data(), v_gradient.data(), m, n - k, k, {false, true}, T(1), product.data());
      for (size_t i = 0; i < size; ++i) left[i] += product[i];
      multiply(factor, v_gradient.data(), m, k, n - k, {}, T(1), z_gradient.data());
      for (int64_t i = 0; i < m; ++i) std::copy_n(z_gradient.data() + i * (n - k), n - k, to_a + i * n + k);
    }
    multiply(u.data(), u_gradient.data(), k, k, k, {false, true}, T(1), middle.data());
    multiply(left.data(), factor, k, m, k, {true, false}, T(1), square.data());
    for (size_t i = 0; i < middle.size(); ++i) middle[i] -= square[i];
    for (int64_t row = 0; row < k; ++row) {
      for (int64_t column = row + 1; column < k; ++column) {
        middle[static_cast<size_t>(row * k + column)] = middle[static_cast<size_t>(column * k + row)];
      }
    }
    multiply(factor, middle.data(), m, k, k, {}, T(1), product.data());
    std::vector<T> right(size), solved(size);
    for (int64_t row = 0; row < m; ++row) {  // transposed: U solved^T = (left + product)^T
      for (int64_t column = 0; column < k; ++column) {
        auto at = static_cast<size_t>(row * k + column);
        right[static_cast<size_t>(column * m + row)] = left[at] + product[at];
      }
    }
    bool regular = solve_triangle(u.data(), k, right.data(), m, {true, false, false}, solved.data());
    if (!regular) std::fill(solved.begin(), solved.end(), std::numeric_limits<T>::quiet_NaN());
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t column = 0; column < k; ++column) {
        to_a[row * n + column] = solved[static_cast<size_t>(column * m + row)];
      }
    }
  }
};

void infer_qr(InferContext& c) {
  require_tensors(c);
  require_matrices(c, "X");
  const Shape& x = c.shape("X");
  QrSizes sizes(c, x);
  DType dtype = c.input("X").dtype;
  c.set_output("Q", dtype, sizes.has_q ? matrices_shape(batch_of(x), sizes.rows, sizes.inner) : Shape{0});
  c.set_output("R", dtype, matrices_shape(batch_of(x), sizes.inner, sizes.columns));
}

void infer_qr_gradient(InferContext& c) {
  require_tensors(c);
  require_matrices(c, "X");
  const Shape& x = c.shape("X");
  QrSizes sizes(c, x);
  const auto& mode = c.attr<std::string>("mode");
  bool thin = mode == "reduced" || (mode == "complete" && (sizes.rows < 0 || sizes.rows <= sizes.columns));
  require<ProgramError>(thin, "mode '", mode, "' has no gradient for X of shape ", x.str(),
                        ": take 'reduced', which has one");
  for (const char* port : {"Q", "R"}) {
    Shape wanted = port[0] == 'Q' ? matrices_shape(batch_of(x), sizes.rows, sizes.inner)
                                  : matrices_shape(batch_of(x), sizes.inner, sizes.columns);
    for (const std::string& one : {std::string(port), std::string(port) + "@GRAD"}) {
      require_same_dtype(c, "X", one.c_str());
      require<ShapeError>(shapes_agree(c.shape(one.c_str()), wanted), one, " has shape ", c.shape(one.c_str()).str(),
                          ", it must be ", wanted.str());
    }
  }
  c.set_output("X@GRAD", c.input("X"));
}

}  // namespace

void define_qr(OpTable& ops) {
  ops.add(OpSchema("qr")
              .doc("Q, with orthonormal columns, and the upper triangular R with Q R = X, for each matrix of X. The "
                   "signs are those of LAPACK's Householder reflections.")
              .input("X", "[..., m, n]")
              .output("Q", "[..., m, k] with k = min(m, n); [..., m, m] for complete; [0] for r")
              .output("R", "[..., k, n]; [..., m, n] for complete")
              .attr("mode", "reduced", "reduced, complete, or r: without Q", one_of({"reduced", "complete", "r"}))
              .infer(infer_qr)
              .custom_lod()
              .gradient("qr_grad", {"X", "Q", "R", "Q@GRAD", "R@GRAD"}, {"X@GRAD"})
              .cpu_only("its decomposition is a sequence of small steps")
              .kernels<QrKernel, float, double>());
  ops.add(ops.gradient_of("qr")
              .doc("X@GRAD = (Q@GRAD + Q M) R^-T, where M is symmetric and has the lower triangle of R R@GRAD^T - "
                   "Q@GRAD^T Q; for a wide X likewise for its first columns. For dependent columns it is NaN; "
                   "mode r, and complete for more rows than columns, have no gradient.")
              .infer(infer_qr_gradient)
              .kernels<QrGradKernel, float, double>());
}

}  // namespace paddle_mini
