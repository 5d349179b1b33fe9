// equal_all: Out = whether X and Y have the same shape and equal elements
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

template <class T>
struct EqualAllKernel : Kernel {
  In<T> x, y;
  Out<bool> out;

  explicit EqualAllKernel(KernelInit& init) : x(init, "X"), y(init, "Y"), out(init, "Out") {}
  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(equal_all)

namespace paddle_mini {

void define_equal_all(OpTable& ops) {
  ops.add(OpSchema("equal_all")
              .doc("Out = whether X and Y have the same shape and all their elements are equal; floating-point numbers "
                   "less than 1e-8 apart count as equal, NaN as different from every number.")
              .input("X", "any shape")
              .input("Y", "any shape, of X's element type")
              .output("Out", "one element, bool")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_dtype(c, "X", "Y");
                c.set_output("Out", DType::Bool, Shape{});
              })
              .no_gradient("its output is bool")
              .on_gpu()
              .kernels<EqualAllKernel, float, double, int32_t, int64_t, bool>());
}

}  // namespace paddle_mini
