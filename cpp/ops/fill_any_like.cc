// fill_any_like: Out = a tensor of X's shape, filled with value
#include "core/op_table.h"
#include "math/fill.h"

namespace paddle_mini {
namespace {

template <class T>
struct FillAnyLikeKernel : FillKernel<T> {
  explicit FillAnyLikeKernel(KernelInit& init)
      : FillKernel<T>(init, number_as<T>(static_cast<double>(init.attr<float>("value")))) {}
};

}  // namespace

void define_fill_any_like(OpTable& ops) {
  ops.add(OpSchema("fill_any_like")
              .doc("Out = value in every element; only the shape and the element type of X are read.")
              .shape_input("X", "any shape")
              .output("Out", "shape of X")
              .attr("value", 0.0f, "the value")
              .attr("dtype", -1, "element type of Out; -1: that of X", at_least(-1))
              .infer([](InferContext& c) {
                require_tensors(c);
                VarInfo out = c.input("X");
                if (c.attr<int32_t>("dtype") >= 0) out.dtype = c.dtype_attr("dtype");
                c.set_output("Out", out);
              })
              .no_gradient("the values of X are not read")
              .dtype_from_output("Out")
              .on_gpu()
              .kernels<FillAnyLikeKernel, float, double, bool, uint8_t, int8_t, int16_t, int32_t, int64_t,
                       Complex<float>, Complex<double>>());
}

}  // namespace paddle_mini
