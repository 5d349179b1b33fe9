// bmm: Out = X Y for each pair of matrices of two stacks
#include "math/axis_index_map.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/bilinear.h"
#include "ops/family/matmul.h"

namespace paddle_mini {
namespace {

struct Bmm : MatmulOperands {
  static MatmulShape shape(const KernelInit& init) {
    return {init.input("X")->tensor.shape, init.input("Y")->tensor.shape, false, false};
  }
};

MatmulShape bmm_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  require_rank(c, "X", 3);
  require_rank(c, "Y", 3);
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(dims_agree(x[0], y[0]), "X ", x.str(), " has ", x[0], " matrices, Y ", y.str(), " has ", y[0]);
  return {x, y, false, false};
}

}  // namespace

void define_bmm(OpTable& ops) {
  ops.add(with_bfloat16_products<MatmulKernel<Bmm>::For>(
      ops, OpSchema("bmm")
               .doc("Out[i] = X[i] Y[i] for each matrix i; X and Y have the same number of matrices.")
               .input("X", "[matrices, m, k]")
               .input("Y", "[matrices, k, n]")
               .output("Out", "[matrices, m, n]")
               .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, bmm_shape(c).out()); })
               .gradient("bmm_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
               .on_gpu()
               .kernels<MatmulKernel<Bmm>::For, float, double>()));
  ops.add(with_bfloat16_products<MatmulGradKernel<Bmm>::For>(
      ops, bilinear_gradient_of(ops, "bmm")
               .doc("X@GRAD = Out@GRAD Y', Y@GRAD = X' Out@GRAD, matrix by matrix.")
               .kernels<MatmulGradKernel<Bmm>::For, float, double>()));
  ops.add(bilinear_second_gradient(ops, "bmm")
              .kernels<BilinearSecondKernel<MatmulKernel<Bmm>::For, MatmulGradKernel<Bmm>::For>::For, float, double>());
}

}  // namespace paddle_mini
