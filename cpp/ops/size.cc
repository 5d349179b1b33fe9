// size: Out = the number of elements of Input
#include "core/op_table.h"
#include "math/copy.h"

namespace paddle_mini {
namespace {

struct SizeKernel : Kernel {
  Out<int64_t> out;
  int64_t count;

  explicit SizeKernel(KernelInit& init) : out(init, "Out"), count(init.input("Input")->tensor.shape.numel()) {}
  void run(KernelContext& context) override { fill_n(context, out.data(), 1, count); }
};

}  // namespace

void define_size(OpTable& ops) {
  ops.add(OpSchema("size")
              .doc("Out = the number of elements of Input.")
              .shape_input("Input", "any shape")
              .output("Out", "one number, int64")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", DType::Int64, Shape{});
              })
              .no_gradient("the values of Input are not read")
              .on_gpu()
              .kernel_for_any<SizeKernel>());
}

}  // namespace paddle_mini
