// is_empty: Out = whether X has no elements
#include "core/op_table.h"
#include "math/copy.h"

namespace paddle_mini {
namespace {

struct IsEmptyKernel : Kernel {
  Out<bool> out;
  bool empty;

  explicit IsEmptyKernel(KernelInit& init) : out(init, "Out"), empty(init.input("X")->tensor.shape.numel() == 0) {}
  void run(KernelContext& context) override { fill_n(context, out.data(), 1, empty); }
};

}  // namespace

void define_is_empty(OpTable& ops) {
  ops.add(OpSchema("is_empty")
              .doc("Out = whether X has no elements.")
              .shape_input("X", "any shape")
              .output("Out", "one element, bool")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", DType::Bool, Shape{});
              })
              .no_gradient("the values of X are not read")
              .on_gpu()
              .kernel_for_any<IsEmptyKernel>());
}

}  // namespace paddle_mini
