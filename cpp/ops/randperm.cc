// randperm: Out = the numbers 0, ..., n - 1 in random order
#include <numeric>

#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {
namespace {

template <class T>
struct RandpermKernel : Kernel {
  Out<T> out;

  explicit RandpermKernel(KernelInit& init) : out(init, "Out") {}
  void run(KernelContext& context) override {
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      make_on_host(context, out.numel(), out.data(), [&](T* to) {
        std::iota(to, to + out.numel(), T(0));
        std::shuffle(to, to + out.numel(), generator);
      });
    });
  }
};

}  // namespace

void define_randperm(OpTable& ops) {
  ops.add(OpSchema("randperm")
              .doc("Out = the numbers 0, ..., n - 1 in random order; all orders are equally likely.")
              .output("Out", "[n]")
              .required_attr("n", AttrType::Int, "how many numbers", at_least(1))
              .attr("dtype", static_cast<int32_t>(DType::Int64), "element type of Out")
              .infer([](InferContext& c) { c.set_output("Out", c.dtype_attr("dtype"), Shape{c.attr<int32_t>("n")}); })
              .no_gradient("it has no inputs")
              .on_gpu()
              .kernels<RandpermKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
