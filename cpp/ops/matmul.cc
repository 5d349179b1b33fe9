// matmul: Out = alpha X Y for matrices or batches of matrices, with the rules of PaddlePaddle before 2.0
#include "math/axis_index_map.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/bilinear.h"
#include "ops/family/matmul.h"

namespace paddle_mini {
namespace {

// A vector X is one row and a vector Y is one column; transposing them gives a column and a row. All axes before the
// last two are flattened into one batch axis: batches are multiplied matrix by matrix, without broadcasting.
Shape as_stack(const Shape& s, bool row) {
  if (s.rank() == 1) return row ? Shape{1, s[0]} : Shape{s[0], 1};
  if (s.rank() <= 3) return s;
  return {s.numel(0, s.rank() - 2), s[s.rank() - 2], s[s.rank() - 1]};
}

template <class Context>
MatmulShape shape_of(const Context& c, const Shape& x, const Shape& y) {
  require<ShapeError>(x.rank() > 0 && y.rank() > 0, "X ", x.str(), " and Y ", y.str(),
                      ": matmul needs at least one dimension");
  Shape xs = as_stack(x, true), ys = as_stack(y, false);
  require<ShapeError>(xs.rank() < 3 || ys.rank() < 3 || dims_agree(xs[0], ys[0]), "X ", x.str(), " has ", xs[0],
                      " matrices, Y ", y.str(), " has ", ys[0]);
  return {xs, ys, c.template attr<bool>("transpose_X"), c.template attr<bool>("transpose_Y")};
}

struct ScaledMatmul : MatmulOperands {
  static float alpha(const KernelInit& init) { return init.attr<float>("alpha"); }
  static MatmulShape shape(const KernelInit& init) {
    return shape_of(init, init.input("X")->tensor.shape, init.input("Y")->tensor.shape);
  }
};

MatmulShape shape_of(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  return shape_of(c, c.shape("X"), c.shape("Y"));
}

// Out omits the axis of length 1 that was added to a vector; the product of two vectors is one number.
Shape out_shape(const InferContext& c) {
  MatmulShape matrices = shape_of(c);
  const Shape &x = c.shape("X"), &y = c.shape("Y"), &stack = x.rank() > 2 ? x : y;
  std::vector<int64_t> out;
  for (int i = 0; i < stack.rank() - 2; ++i) out.push_back(stack[i]);
  bool drop_row = x.rank() == 1 && matrices.m == 1, drop_column = y.rank() == 1 && matrices.n == 1;
  if (!drop_row) out.push_back(matrices.m);
  if (!drop_column) out.push_back(matrices.n);
  return Shape(out);
}

}  // namespace

void define_matmul(OpTable& ops) {
  ops.add(with_bfloat16_products<MatmulKernel<ScaledMatmul>::For>(
      ops,
      OpSchema("matmul")
          .doc("Out = alpha X Y. The last two axes are those of matrices, the others batch dimensions; one of X "
               "and Y may be a single matrix, which is then multiplied by every matrix of the other. A vector X is "
               "a row and a vector Y a column; transpose_X and transpose_Y transpose them.")
          .attr("transpose_X", false, "whether X is [..., k, m]")
          .attr("transpose_Y", false, "whether Y is [..., n, k]")
          .attr("alpha", 1.0f, "factor of the products")
          .attr("head_number", 1, "1: products are not split", between(1, 1))
          .input("X", "[..., m, k], or [k]")
          .input("Y", "[..., k, n], or [k]")
          .output("Out", "[..., m, n], without the axes of 1 of vectors; [] for two vectors")
          .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, out_shape(c)); })
          .gradient("matmul_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
          .on_gpu()
          .kernels<MatmulKernel<ScaledMatmul>::For, float, double>()));
  ops.add(with_bfloat16_products<MatmulGradKernel<ScaledMatmul>::For>(
      ops,
      bilinear_gradient_of(ops, "matmul")
          .doc("X@GRAD = alpha Out@GRAD Y', Y@GRAD = alpha X' Out@GRAD; the gradient of a single matrix is the sum "
               "over the batch.")
          .kernels<MatmulGradKernel<ScaledMatmul>::For, float, double>()));
  ops.add(bilinear_second_gradient(ops, "matmul")
              .kernels<BilinearSecondKernel<MatmulKernel<ScaledMatmul>::For, MatmulGradKernel<ScaledMatmul>::For>::For,
                       float, double>());
}

}  // namespace paddle_mini
