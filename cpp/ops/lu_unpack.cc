// lu_unpack: the permutation, L and U of a decomposition by lu
#include <numeric>

#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

template <class T>
struct LuUnpackKernel : Kernel {
  In<T> x;
  In<int32_t> pivots;
  Out<T> permutation, l, u;
  Matrices matrices;
  bool has_permutation, has_factors;
  std::vector<int64_t> rows;  // for each matrix, which row of L U each row of the original matrix is

  explicit LuUnpackKernel(KernelInit& init)
      : x(init, "X"), pivots(init, "Pivots"), permutation(init, "Pmat", optional_port), l(init, "L", optional_port),
        u(init, "U", optional_port), matrices(x.shape()),
        has_permutation(init.attr<bool>("unpack_pivots") && permutation), has_factors(init.attr<bool>("unpack_ludata")),
        rows(has_permutation ? static_cast<size_t>(matrices.count * matrices.rows) : 0) {}

  void run(KernelContext& context) override {
    int64_t m = matrices.rows, n = matrices.columns, k = std::min(m, n);
    if (has_permutation) {
      require_each(context, matrices, "Pivots", "has a pivot that is not the number of a row",
                   [&](int64_t i) { return order_rows(pivots.data() + i * k, k, rows.data() + i * m); });
      std::fill_n(permutation.data(), permutation.numel(), T(0));
      for (int64_t i = 0; i < matrices.count; ++i) {
        for (int64_t row = 0; row < m; ++row)
          permutation[(i * m + rows[static_cast<size_t>(i * m + row)]) * m + row] = T(1);
      }
    }
    if (!has_factors) return;
    each_item(context, matrices.loop(), [&](int64_t i) {
      const T* from = x.data() + i * m * n;
      for (int64_t row = 0; row < m && l; ++row) {
        for (int64_t column = 0; column < k; ++column) {
          l[(i * m + row) * k + column] = row > column ? from[row * n + column] : T(row == column);
        }
      }
      for (int64_t row = 0; row < k && u; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          u[(i * k + row) * n + column] = row > column ? T(0) : from[row * n + column];
        }
      }
    });
  }

  // Exchanges the numbers of rows as lu exchanged the rows.
  bool order_rows(const int32_t* pivot, int64_t count, int64_t* order) const {
    std::iota(order, order + matrices.rows, 0);
    for (int64_t i = 0; i < count; ++i) {
      if (pivot[i] < 1 || pivot[i] > matrices.rows) return false;
      std::swap(order[i], order[pivot[i] - 1]);
    }
    return true;
  }
};

template <class T>
struct LuUnpackGradKernel : Kernel {
  In<T> l_gradient, u_gradient;
  Out<T> x_gradient;
  Matrices matrices;

  explicit LuUnpackGradKernel(KernelInit& init)
      : l_gradient(init, "L@GRAD"), u_gradient(init, "U@GRAD"), x_gradient(init, "X@GRAD"),
        matrices(x_gradient.shape()) {}

  void run(KernelContext& context) override {
    int64_t m = matrices.rows, n = matrices.columns, k = std::min(m, n);
    each_item(context, matrices.loop(), [&](int64_t i) {
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          x_gradient[(i * m + row) * n + column] =
              row > column ? l_gradient[(i * m + row) * k + column] : u_gradient[(i * k + row) * n + column];
        }
      }
    });
  }
};

// Throws unless X and Pivots fit; the shapes of Pmat, L and U.
std::array<Shape, 3> lu_unpack_shapes(const InferContext& c) {
  require_tensors(c);
  require_matrices(c, "X");
  const Shape& x = c.shape("X");
  int64_t m = x[x.rank() - 2], n = x[x.rank() - 1], k = m < 0 || n < 0 ? -1 : std::min(m, n);
  Shape batch = batch_of(x), pivots = batch;
  pivots.push_back(k);
  require<ShapeError>(c.input("Pivots").dtype == DType::Int32, "Pivots is ", name_of(c.input("Pivots").dtype),
                      ", it must be int32");
  require<ShapeError>(shapes_agree(c.shape("Pivots"), pivots), "Pivots has shape ", c.shape("Pivots").str(),
                      ", it must be ", pivots.str());
  return {matrices_shape(batch, m, m), matrices_shape(batch, m, k), matrices_shape(batch, k, n)};
}

void infer_lu_unpack(InferContext& c) {
  auto [permutation, l, u] = lu_unpack_shapes(c);
  DType dtype = c.input("X").dtype;
  bool has_factors = c.attr<bool>("unpack_ludata");
  c.set_output("Pmat", dtype, c.attr<bool>("unpack_pivots") ? permutation : Shape{0});
  c.set_output("L", dtype, has_factors ? l : Shape{0});
  c.set_output("U", dtype, has_factors ? u : Shape{0});
}

void infer_lu_unpack_gradient(InferContext& c) {
  auto [permutation, l, u] = lu_unpack_shapes(c);
  require<ProgramError>(c.attr<bool>("unpack_ludata"),
                        "attribute 'unpack_ludata' is false, so that there is no gradient of L and U");
  for (auto [port, wanted] : {std::pair("L@GRAD", &l), std::pair("U@GRAD", &u)}) {
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), *wanted), port, " has shape ", c.shape(port).str(), ", it must be ",
                        wanted->str());
  }
  c.set_output("X@GRAD", c.input("X"));
}

}  // namespace

void define_lu_unpack(OpTable& ops) {
  ops.add(OpSchema("lu_unpack")
              .doc("The permutation matrix Pmat, the lower triangular L and the upper triangular U with Pmat L U = the "
                   "matrix "
                   "that lu decomposed.")
              .input("X", "[..., m, n], Out of lu")
              .input("Pivots", "int32 [..., min(m, n)], Pivots of lu")
              .output("Pmat", "[..., m, m]; [0] without unpack_pivots")
              .output("L", "[..., m, min(m, n)]; [0] without unpack_ludata")
              .output("U", "[..., min(m, n), n]; [0] without unpack_ludata")
              .attr("unpack_ludata", true, "whether L and U are computed")
              .attr("unpack_pivots", true, "whether Pmat is computed")
              .infer(infer_lu_unpack)
              .custom_lod()
              .gradient("lu_unpack_grad", {"X", "Pivots", "L", "U", "Pmat", "L@GRAD", "U@GRAD"}, {"X@GRAD"})
              .checks_data()
              .cpu_only("it follows a decomposition on the CPU")
              .kernels<LuUnpackKernel, float, double>());
  ops.add(ops.gradient_of("lu_unpack")
              .doc("X@GRAD = the lower triangle of L@GRAD, without its diagonal, and the upper triangle of U@GRAD.")
              .infer(infer_lu_unpack_gradient)
              .shape_only("X")
              .shape_only("Pivots")
              .shape_only("L")
              .shape_only("U")
              .shape_only("Pmat")
              .kernels<LuUnpackGradKernel, float, double>());
}

}  // namespace paddle_mini
