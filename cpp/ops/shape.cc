// shape: Out = the dimensions of Input
#include "core/op_table.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

struct Dimensions {
  int32_t all[Shape::kMaxRank];
  int32_t* out;
  PM_HD void operator()(int64_t i) const { out[i] = all[i]; }
};

struct ShapeKernel : Kernel {
  const Shape shape;
  Out<int32_t> out;

  explicit ShapeKernel(KernelInit& init) : shape(init.input("Input")->tensor.shape), out(init, "Out") {
    for (int64_t dim : shape)
      require<ShapeError>(dim <= INT32_MAX, "Input has shape ", shape.str(), ", which does not fit into int32");
  }
  void run(KernelContext& context) override {
    Dimensions dimensions{{}, out.data()};
    for (int i = 0; i < shape.rank(); ++i) dimensions.all[i] = static_cast<int32_t>(shape[i]);
    for_each_index(context, shape.rank(), dimensions);
  }
};

}  // namespace

void define_shape(OpTable& ops) {
  ops.add(OpSchema("shape")
              .doc("Out = the dimensions of Input.")
              .shape_input("Input", "any shape")
              .output("Out", "[the number of Input's dimensions], int32")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", DType::Int32, {c.shape("Input").rank()});
              })
              .no_gradient("the values of Input are not read")
              .on_gpu()
              .kernel_for_any<ShapeKernel>());
}

}  // namespace paddle_mini
