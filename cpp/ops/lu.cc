// lu: Out = L and U in one matrix, with P L U = X for a permutation P
#include "math/cpu/lu_factors.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

template <class T>
struct LuKernel : Kernel {
  In<T> x;
  Out<T> out;
  Out<int32_t> pivots, infos;
  Matrices matrices;

  explicit LuKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), pivots(init, "Pivots"), infos(init, "Infos"), matrices(x.shape()) {}

  void run(KernelContext& context) override {
    int64_t size = matrices.size(), k = std::min(matrices.rows, matrices.columns);
    each_item(context, matrices.loop(), [&](int64_t i) {
      T* factors = out.data() + i * size;
      std::copy_n(x.data() + i * size, size, factors);
      infos[i] = lu_factors(factors, matrices.rows, matrices.columns, pivots.data() + i * k);
    });
  }
};

template <class T>
struct LuGradKernel : Kernel {
  In<T> out, out_gradient;
  In<int32_t> pivots;
  Out<T> x_gradient;
  Matrices matrices;
  Scratch<T> gradients;  // because a pivot may be refused, and nothing is written before

  explicit LuGradKernel(KernelInit& init)
      : out(init, "Out"), out_gradient(init, "Out@GRAD"), pivots(init, "Pivots"), x_gradient(init, "X@GRAD"),
        matrices(out.shape()), gradients(init, out.numel()) {}

  void run(KernelContext& context) override {
    int64_t size = matrices.size(), k = std::min(matrices.rows, matrices.columns);
    require_each(context, matrices, "Out", "has a pivot that is not the number of a row", [&](int64_t i) {
      const int32_t *begin = pivots.data() + i * k, *end = begin + k;
      if (!std::all_of(begin, end, [this](int32_t pivot) { return pivot >= 1 && pivot <= matrices.rows; }))
        return false;
      lu_gradient(out.data() + i * size, out_gradient.data() + i * size, matrices.rows, matrices.columns, begin,
                  gradients.data() + i * size);
      return true;
    });
    std::copy_n(gradients.data(), x_gradient.numel(), x_gradient.data());
  }
};

Shape pivots_shape(const Shape& x) {
  int64_t m = x[x.rank() - 2], n = x[x.rank() - 1];
  Shape shape = batch_of(x);
  shape.push_back(m < 0 || n < 0 ? -1 : std::min(m, n));
  return shape;
}

void infer_lu(InferContext& c) {
  require_tensors(c);
  require_matrices(c, "X");
  require<ProgramError>(
      c.attr<bool>("pivots"),
      "attribute 'pivots' is false, it must be true: there is no LU decomposition without row exchanges");
  const Shape& x = c.shape("X");
  c.set_output("Out", c.input("X"));
  c.set_output("Pivots", DType::Int32, pivots_shape(x));
  c.set_output("Infos", DType::Int32, x.rank() == 2 ? Shape{1} : batch_of(x));
}

void infer_lu_gradient(InferContext& c) {
  require_tensors(c);
  require_matrices(c, "Out");
  require_same_dtype(c, "Out", "Out@GRAD");
  require_same_shape(c, "Out", "Out@GRAD");
  Shape wanted = pivots_shape(c.shape("Out"));
  require<ShapeError>(shapes_agree(c.shape("Pivots"), wanted), "Pivots has shape ", c.shape("Pivots").str(),
                      ", it must be ", wanted.str());
  c.set_output("X@GRAD", c.input("Out"));
}

}  // namespace

void define_lu(OpTable& ops) {
  ops.add(
      OpSchema("lu")
          .doc("For each matrix of X, after its rows were exchanged, the lower triangular L with ones in its diagonal "
               "and the upper triangular U with L U = X. The pivot of a column is its largest element.")
          .input("X", "[..., m, n]")
          .output("Out", "shape of X: U, and below its diagonal L")
          .output("Pivots",
                  "int32 [..., min(m, n)]: the number, from 1, of the row that row i is exchanged with; in order")
          .output("Infos",
                  "int32, the axes before the matrices, [1] if there are none: the number, from 1, of the first "
                  "pivot that is 0, or 0")
          .attr("pivots", true, "must be true")
          .infer(infer_lu)
          .custom_lod()
          .gradient("lu_grad", {"X", "Out", "Pivots", "Out@GRAD"}, {"X@GRAD"})
          .cpu_only("its decomposition is a sequence of small steps")
          .kernels<LuKernel, float, double>());
  ops.add(
      ops.gradient_of("lu")
          .doc(
              "X@GRAD = P L^-T (the lower triangle, without its diagonal, of L^T L@GRAD + the upper one of U@GRAD U^T) "
              "U^-T; for other than square matrices likewise. For a singular U it is NaN.")
          .infer(infer_lu_gradient)
          .shape_only("X")
          .checks_data()
          .kernels<LuGradKernel, float, double>());
}

}  // namespace paddle_mini
