// uniform_random: Out is drawn uniformly from [min, max)
#include "ops/family/tensor_attr.h"
#include "ops/family/uniform.h"

namespace paddle_mini {
namespace {

const TensorAttr kUniformShape{"shape", "ShapeTensor", "ShapeTensorList"};

void infer_uniform_random(InferContext& c) {
  Shape shape = settled_shape(c, kUniformShape);
  check_uniform(c, shape);
  c.set_output("Out", c.dtype_attr("dtype"), shape);
}

}  // namespace

void define_uniform_random(OpTable& ops) {
  ops.add(with_tensor_ports(with_bounds(OpSchema("uniform_random")).output("Out", "the attribute `shape` is its shape"),
                            {kUniformShape})
              .doc("Each element of Out is a sample of the uniform distribution on [min, max).")
              .attr("shape", std::vector<int64_t>{}, "shape of Out; empty: one element")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out, float32 or float64")
              .infer(infer_uniform_random)
              .no_gradient("its input is a shape, which has no gradient")
              .dtype_from_output("Out")
              .on_gpu()
              .kernels<UniformRandomKernel, float, double>());
}

}  // namespace paddle_mini
