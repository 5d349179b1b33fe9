// fill_zeros_like, fill_zeros_like2: Out = 0 in the shape of X
#include "core/op_table.h"
#include "math/fill.h"

namespace paddle_mini {
namespace {

template <class T>
struct FillZerosLikeKernel : FillKernel<T> {
  explicit FillZerosLikeKernel(KernelInit& init) : FillKernel<T>(init, T()) {}
};

OpSchema zeros_like(const char* type) {
  return OpSchema(type)
      .shape_input("X", "any shape")
      .output("Out", "shape of X")
      .no_gradient("the values of X are not read")
      .on_gpu()
      .kernels<FillZerosLikeKernel, float, double, bool, int32_t, int64_t, Complex<float>, Complex<double>>();
}

}  // namespace

void define_fill_zeros_like(OpTable& ops) {
  ops.add(zeros_like("fill_zeros_like")
              .doc("Out = 0 in every element; only the shape and the element type of X are read.")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X"));
              }));
  ops.add(zeros_like("fill_zeros_like2")
              .doc("Out = 0 in every element; only the shape of X is read.")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out")
              .infer([](InferContext& c) {
                require_tensors(c);
                VarInfo out = c.input("X");
                out.dtype = c.dtype_attr("dtype");
                c.set_output("Out", out);
              })
              .dtype_from_output("Out"));
}

}  // namespace paddle_mini
