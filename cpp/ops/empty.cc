// empty: Out = a tensor of a shape, whose elements are 0
#include "core/op_table.h"
#include "math/fill.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttr kEmptyShape{"shape", "ShapeTensor", "ShapeTensorList"};

template <class T>
struct EmptyKernel : FillKernel<T> {
  explicit EmptyKernel(KernelInit& init) : FillKernel<T>(init, T()) {}
};

}  // namespace

void define_empty(OpTable& ops) {
  ops.add(with_tensor_ports(OpSchema("empty").output("Out", "the attribute `shape` is its shape"), {kEmptyShape})
              .doc("Out = a tensor whose values do not matter; they are 0, so that results are the same in every run.")
              .attr("shape", std::vector<int64_t>{}, "shape of Out; empty: one element")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out")
              .infer([](InferContext& c) { c.set_output("Out", c.dtype_attr("dtype"), settled_shape(c, kEmptyShape)); })
              .no_gradient("its input is a shape, which has no gradient")
              .dtype_from_output("Out")
              .on_gpu()
              .kernels<EmptyKernel, float, double, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>());
}

}  // namespace paddle_mini
