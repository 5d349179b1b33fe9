// mv: Out = X Vec, a matrix by a vector
#include "math/axis_index_map.h"
#include "ops/family/bilinear.h"
#include "ops/family/matmul.h"

namespace paddle_mini {
namespace {

struct Mv : MatmulOperands {
  static constexpr const char *kY = "Vec", *kYGradient = "Vec@GRAD";
  static MatmulShape shape(const KernelInit& init) {
    return {init.input("X")->tensor.shape, init.input("Vec")->tensor.shape, false, false};
  }
};

Shape mv_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Vec");
  require_rank(c, "X", 2);
  require_rank(c, "Vec", 1);
  const Shape &x = c.shape("X"), &vec = c.shape("Vec");
  require<ShapeError>(dims_agree(x[1], vec[0]), "X ", x.str(), " has ", x[1], " columns, Vec has ", vec[0],
                      " elements");
  return {x[0]};
}

}  // namespace

void define_mv(OpTable& ops) {
  ops.add(OpSchema("mv")
              .doc("Out = X Vec.")
              .input("X", "[rows, columns]")
              .input("Vec", "[columns]")
              .output("Out", "[rows]")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, mv_shape(c)); })
              .gradient("mv_grad", {"X", "Vec", "Out@GRAD"}, {"X@GRAD", "Vec@GRAD"})
              .on_gpu()
              .kernels<MatmulKernel<Mv>::For, float, double>());
  ops.add(bilinear_gradient_of(ops, "mv")
              .doc("X@GRAD = Out@GRAD Vec', Vec@GRAD = X' Out@GRAD.")
              .kernels<MatmulGradKernel<Mv>::For, float, double>());
  ops.add(bilinear_second_gradient(ops, "mv")
              .kernels<BilinearSecondKernel<MatmulKernel<Mv>::For, MatmulGradKernel<Mv>::For>::For, float, double>());
}

}  // namespace paddle_mini
