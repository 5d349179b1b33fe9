// fill_constant: Out = a tensor filled with value
#include "core/op_table.h"
#include "math/fill.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttr kShape{"shape", "ShapeTensor", "ShapeTensorList"};

template <class T>
struct FillConstantKernel : FillKernel<T> {
  In<T> value_tensor;

  explicit FillConstantKernel(KernelInit& init)
      : FillKernel<T>(init, init.input("ValueTensor") ? T() : value_to_fill<T>(init)),
        value_tensor(init, "ValueTensor", optional_port) {}

  void run(KernelContext& context) override {
    if (value_tensor) this->value = ScalarArg<T>(value_tensor);
    FillKernel<T>::run(context);
  }
};

void infer_fill_constant(InferContext& c) {
  DType dtype = c.dtype_attr("dtype");
  if (c.has_input("ValueTensor")) {
    require_scalar(c, "ValueTensor");
    DType given = c.input("ValueTensor").dtype;
    require<ShapeError>(given == dtype, "ValueTensor is ", name_of(given), ", attribute 'dtype' is ", name_of(dtype));
  }
  c.set_output("Out", dtype, settled_shape(c, kShape));
}

}  // namespace

void define_fill_constant(OpTable& ops) {
  OpSchema schema("fill_constant");
  schema.optional_input("ValueTensor", "one element of type `dtype`; replaces `value`")
      .output("Out", "the attribute `shape` is its shape");
  ops.add(with_tensor_ports(schema, {kShape})
              .doc("Out = value in every element.")
              .attr("shape", std::vector<int64_t>{}, "shape of Out; empty: one element")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out")
              .attr("value", 0.0f, "the value")
              .attr("str_value", "", "the value in decimal, \"inf\" or \"nan\"; replaces `value` unless empty")
              .attr("force_cpu", false, "whether Out is on the CPU regardless of the place")
              .infer(infer_fill_constant)
              .no_gradient("its inputs are a shape and a constant, which have no gradient")
              .dtype_from_output("Out")
              .on_gpu()
              .kernels<FillConstantKernel, float, double, bool, uint8_t, int8_t, int16_t, int32_t, int64_t,
                       Complex<float>, Complex<double>>());
}

}  // namespace paddle_mini
