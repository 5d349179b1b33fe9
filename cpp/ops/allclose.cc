// allclose: Out = whether all elements of Input and Other are nearly equal
#include "ops/family/is_close.h"

namespace paddle_mini {
namespace {

template <class T>
struct AllcloseKernel : Kernel, CloseInputs<T> {
  Out<bool> out;

  explicit AllcloseKernel(KernelInit& init) : CloseInputs<T>(init), out(init, "Out") {}
  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(allclose)

namespace paddle_mini {

void define_allclose(OpTable& ops) {
  ops.add(comparison_of_close("allclose")
              .doc("Out = whether |Input - Other| <= atol + rtol |Other| for all elements; if rtol > 0, an infinite "
                   "Other is close to every number, as in PaddlePaddle.")
              .output("Out", "one element, bool")
              .infer([](InferContext& c) {
                check_close_inputs(c);
                c.set_output("Out", DType::Bool, Shape{});
              })
              .kernels<AllcloseKernel, float, double>());
}

}  // namespace paddle_mini
