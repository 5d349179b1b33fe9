// share_data: Out = X
#include "core/op_table.h"
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

struct ShareDataKernel : MoveKernel {
  explicit ShareDataKernel(KernelInit& init) : MoveKernel(init.input("X"), init.output("Out")) {}
};

}  // namespace

void define_share_data(OpTable& ops) {
  ops.add(OpSchema("share_data")
              .doc("Out = X, in the same memory if possible.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .infer(same_as("X"))
              .no_gradient("it stops gradients, as in PaddlePaddle")
              .view("X", "Out")
              .on_gpu()
              .kernel_for_any<ShareDataKernel>());
}

}  // namespace paddle_mini
