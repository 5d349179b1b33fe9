// svd: U, S and VH with X = U diagonal(S) VH, orthonormal columns of U and rows of VH
#include "math/cpu/matrix_functions.h"
#include "math/cpu/singular_values.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

struct SvdShapes {
  Shape u, s, vh;

  SvdShapes(const Shape& x, bool full) {
    int64_t m = x[x.rank() - 2], n = x[x.rank() - 1], k = m < 0 || n < 0 ? -1 : std::min(m, n);
    u = matrices_shape(batch_of(x), m, full ? m : k);
    vh = matrices_shape(batch_of(x), full ? n : k, n);
    s = batch_of(x);
    s.push_back(k);
  }
};

template <class T>
struct SvdKernel : Kernel {
  In<T> x;
  Out<T> u, s, vh;
  Matrices matrices;
  bool full;
  Scratch<T> left, values, right;  // because a matrix may be refused, and nothing is written before

  explicit SvdKernel(KernelInit& init)
      : x(init, "X"), u(init, "U"), s(init, "S"), vh(init, "VH"), matrices(x.shape()),
        full(init.attr<bool>("full_matrices")), left(init, u.numel()), values(init, s.numel()),
        right(init, vh.numel()) {}

  void run(KernelContext& context) override {
    int64_t m = matrices.rows, n = matrices.columns, k = std::min(m, n);
    int64_t u_size = m * (full ? m : k), vh_size = n * (full ? n : k);
    require_each(context, matrices, "X", "has no singular values: it has elements that are not finite", [&](int64_t i) {
      return singular_decomposition(x.data() + i * m * n, m, n, full, left.data() + i * u_size, values.data() + i * k,
                                    right.data() + i * vh_size);
    });
    std::copy_n(left.data(), u.numel(), u.data());
    std::copy_n(values.data(), s.numel(), s.data());
    std::copy_n(right.data(), vh.numel(), vh.data());
  }
};

// The inputs of the gradient of one matrix: the first k columns of U and rows of VH, and their gradients.
template <class T>
struct SvdFactors {
  int64_t m, n, k;
  std::vector<T> u, vh, to_u, to_vh;
  const T *s, *to_s;

  static std::vector<T> first_columns(const T* from, int64_t rows, int64_t width, int64_t count) {
    std::vector<T> taken;
    for (int64_t row = 0; row < rows; ++row) taken.insert(taken.end(), from + row * width, from + row * width + count);
    return taken;
  }

  std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, int64_t rows, int64_t inner, int64_t columns,
                         Transposed transposed = {}, T scale = T(1)) const {
    std::vector<T> out(static_cast<size_t>(rows * columns));
    if (!out.empty()) multiply(a.data(), b.data(), rows, inner, columns, transposed, scale, out.data());
    return out;
  }
};

// Townsend, Differentiating the singular value decomposition, 2016: with E[i, j] = 1 / (s[j]^2 - s[i]^2) beside the diagonal,
// A = E (U^T U@GRAD - its transpose) and B = E (VH VH@GRAD^T - its transpose), products of elements,
// X@GRAD = U (A S + S B + diagonal(S@GRAD)) VH + (I - U U^T) U@GRAD S^-1 VH + U S^-1 VH@GRAD (I - VH^T VH).
template <class T>
void svd_gradient(const SvdFactors<T>& f, T* to_x) {
  int64_t m = f.m, n = f.n, k = f.k;
  std::vector<T> a = f.product(f.u, f.to_u, k, m, k, {true, false});
  std::vector<T> b = f.product(f.vh, f.to_vh, k, n, k, {false, true});
  auto inverse = [](T value) { return value == T(0) ? T(0) : T(1) / value; };
  std::vector<T> middle(a.size());
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      auto at = static_cast<size_t>(i * k + j), turned = static_cast<size_t>(j * k + i);
      T between = inverse((f.s[j] - f.s[i]) * (f.s[j] + f.s[i]));
      middle[at] = i == j ? f.to_s[i] : between * ((a[at] - a[turned]) * f.s[j] + f.s[i] * (b[at] - b[turned]));
    }
  }
  // left = U middle + (I - U U^T) U@GRAD S^-1, so that left VH has the first two terms
  std::vector<T> left = f.product(f.u, middle, m, k, k), inside = f.product(f.u, a, m, k, k);
  for (size_t i = 0; i < left.size(); ++i)
    left[i] += (f.to_u[i] - inside[i]) * inverse(f.s[i % static_cast<size_t>(k)]);
  std::vector<T> result = f.product(left, f.vh, m, k, n);
  // right = S^-1 (VH@GRAD - VH@GRAD VH^T VH)
  std::vector<T> right = f.product(b, f.vh, k, k, n, {true, false});
  for (size_t i = 0; i < right.size(); ++i)
    right[i] = (f.to_vh[i] - right[i]) * inverse(f.s[i / static_cast<size_t>(n)]);
  std::vector<T> more = f.product(f.u, right, m, k, n);
  for (size_t i = 0; i < result.size(); ++i) to_x[i] = result[i] + more[i];
}

template <class T>
struct SvdGradKernel : Kernel {
  In<T> u, s, vh, u_gradient, s_gradient, vh_gradient;
  Out<T> x_gradient;
  Matrices matrices;

  explicit SvdGradKernel(KernelInit& init)
      : u(init, "U"), s(init, "S"), vh(init, "VH"), u_gradient(init, "U@GRAD"), s_gradient(init, "S@GRAD"),
        vh_gradient(init, "VH@GRAD"), x_gradient(init, "X@GRAD"), matrices(x_gradient.shape()) {}

  void run(KernelContext& context) override {
    int64_t m = matrices.rows, n = matrices.columns, k = std::min(m, n);
    int64_t width = u.shape()[u.shape().rank() - 1], height = vh.shape()[vh.shape().rank() - 2];
    using Factors = SvdFactors<T>;
    each_item(context, matrices.loop(), [&](int64_t i) {
      const T *right = vh.data() + i * height * n, *to_right = vh_gradient.data() + i * height * n;
      Factors factors{m,
                      n,
                      k,
                      Factors::first_columns(u.data() + i * m * width, m, width, k),
                      {right, right + k * n},
                      Factors::first_columns(u_gradient.data() + i * m * width, m, width, k),
                      {to_right, to_right + k * n},
                      s.data() + i * k,
                      s_gradient.data() + i * k};
      svd_gradient(factors, x_gradient.data() + i * m * n);
    });
  }
};

SvdShapes svd_shapes(const InferContext& c) {
  require_tensors(c);
  require_matrices(c, "X");
  return {c.shape("X"), c.attr<bool>("full_matrices")};
}

void infer_svd_gradient(InferContext& c) {
  SvdShapes shapes = svd_shapes(c);
  for (auto [port, wanted] : {std::pair("U", &shapes.u), std::pair("S", &shapes.s), std::pair("VH", &shapes.vh)}) {
    for (const std::string& one : {std::string(port), std::string(port) + "@GRAD"}) {
      require_same_dtype(c, "X", one.c_str());
      require<ShapeError>(shapes_agree(c.shape(one.c_str()), *wanted), one, " has shape ", c.shape(one.c_str()).str(),
                          ", it must be ", wanted->str());
    }
  }
  c.set_output("X@GRAD", c.input("X"));
}

}  // namespace

void define_svd(OpTable& ops) {
  ops.add(
      OpSchema("svd")
          .doc("X = U diagonal(S) VH for each matrix of X, with orthonormal columns of U and rows of VH. The signs of "
               "these vectors are not defined.")
          .input("X", "[..., m, n]")
          .output("U", "[..., m, k] with k = min(m, n); [..., m, m] with full_matrices")
          .output("S", "[..., k], the singular values in descending order")
          .output("VH", "[..., k, n]; [..., n, n] with full_matrices")
          .attr("full_matrices", false, "whether U and VH are square")
          .infer([](InferContext& c) {
            SvdShapes shapes = svd_shapes(c);
            DType dtype = c.input("X").dtype;
            c.set_output("U", dtype, shapes.u);
            c.set_output("S", dtype, shapes.s);
            c.set_output("VH", dtype, shapes.vh);
          })
          .custom_lod()
          .gradient("svd_grad", {"X", "U", "S", "VH", "U@GRAD", "S@GRAD", "VH@GRAD"}, {"X@GRAD"})
          .checks_data()
          .cpu_only("its decomposition is a sequence of small steps")
          .kernels<SvdKernel, float, double>());
  ops.add(
      ops.gradient_of("svd")
          .doc("With E = 1 / (S[j]^2 - S[i]^2) beside the diagonal, A = E (U^T U@GRAD - its transpose) and B = E (VH "
               "VH@GRAD^T - its transpose), products of elements: X@GRAD = U (A S + S B + diagonal(S@GRAD)) VH + (I - "
               "U U^T) U@GRAD S^-1 VH + U S^-1 VH@GRAD (I - VH^T VH). Quotients by 0, of equal singular values and "
               "of 0, are taken as 0. Vectors that only full_matrices adds have no gradient.")
          .infer(infer_svd_gradient)
          .shape_only("X")
          .kernels<SvdGradKernel, float, double>());
}

}  // namespace paddle_mini
