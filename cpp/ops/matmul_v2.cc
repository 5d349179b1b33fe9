// matmul_v2: Out = X Y for matrices or batches of matrices
#include "core/promotion.h"
#include "core/widening.h"
#include "math/axis_index_map.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/bilinear.h"
#include "ops/family/complex_matmul.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

template <class Context>
MatmulShape shape_of_v2(const Context& c, const Shape& x, const Shape& y) {
  return {x, y, c.template attr<bool>("trans_x"), c.template attr<bool>("trans_y")};
}

struct MatmulV2 : MatmulOperands {
  static MatmulShape shape(const KernelInit& init) {
    return shape_of_v2(init, init.input("X")->tensor.shape, init.input("Y")->tensor.shape);
  }
};

MatmulShape shape_of_v2(const InferContext& c) {
  require_tensors(c);
  return shape_of_v2(c, c.shape("X"), c.shape("Y"));
}

void infer_matmul(InferContext& c) { c.set_output("Out", promoted_dtype(c, "X", "Y"), shape_of_v2(c).out()); }

}  // namespace

void define_matmul_v2(OpTable& ops) {
  ops.add(also(
      {DType::Int32, DType::Int64},
      promotes_complex(
          with_complex<ComplexMatmulKernel<MatmulV2>::For>(with_bfloat16_products<MatmulKernel<MatmulV2>::For>(
              ops,
              OpSchema("matmul_v2")
                  .doc("Out = X Y. The last two axes are those of matrices, the others batch dimensions, which are "
                       "broadcast as in NumPy. A vector X is a row and a vector Y a column.")
                  .input("X", "[..., m, k], or [k]")
                  .input("Y", "[..., k, n], or [k]")
                  .output("Out", "[..., m, n], without m if X is a vector and without n if Y is a vector")
                  .attr("trans_x", false, "whether X is [..., k, m]")
                  .attr("trans_y", false, "whether Y is [..., n, k]")
                  .infer(infer_matmul)
                  .gradient("matmul_v2_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
                  .stores_parts("Out")
                  .on_gpu()
                  .kernels<MatmulKernel<MatmulV2>::For, float, double>())))));
  ops.add(promotes_complex(with_complex<ComplexMatmulGradKernel<MatmulV2>::For>(with_bfloat16_products<
                                                                                MatmulGradKernel<MatmulV2>::For>(
      ops,
      bilinear_gradient_of(ops, "matmul_v2")
          .doc("X@GRAD = Out@GRAD Y', Y@GRAD = X' Out@GRAD, each summed over the axes along which it was broadcast; of "
               "complex numbers with the conjugates of Y and X.")
          .kernels<MatmulGradKernel<MatmulV2>::For, float, double>()))));
  ops.add(bilinear_second_gradient(ops, "matmul_v2")
              .kernels<BilinearSecondKernel<MatmulKernel<MatmulV2>::For, MatmulGradKernel<MatmulV2>::For>::For, float,
                       double>());
}

}  // namespace paddle_mini
