// increment: Out = X + step, for one element
#include "core/op_table.h"
#include "math/fill.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct PlusNumber {
  T number;
  template <class V>
  PM_HD V operator()(V v) const {
    return v + V(number);
  }
};

template <class T>
struct IncrementKernel : Kernel {
  In<T> x;
  Out<T> out;
  T step;

  explicit IncrementKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), step(number_as<T>(static_cast<double>(init.attr<float>("step")))) {}
  void run(KernelContext& context) override { map(context, 1, PlusNumber<T>{step}, out.data(), x.data()); }
};

}  // namespace

void define_increment(OpTable& ops) {
  ops.add(OpSchema("increment")
              .doc("Out = X + step, which counts steps. In the backward pass it subtracts step again.")
              .input("X", "one element")
              .output("Out", "shape of X; usually the variable of X")
              .attr("step", 1.0f, "the increment; truncated towards zero for integers", between(-9e18, 9e18))
              .infer([](InferContext& c) {
                require_tensors(c);
                require_scalar(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("increment", {{"X", forward.output("Out")}},
                                                   {{"Out", forward.input("X")}},
                                                   {{"step", -attr_of<float>(forward, "step")}})};
              })
              .updates("X", "Out")
              .on_gpu()
              .kernels<IncrementKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
