// nextafter: out = the number after x, in the direction of y
#include "math/map.h"
#include "core/op_table.h"

namespace paddle_mini {
namespace {

struct NextAfter {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return each_lane(x, y, [](auto from, auto to) { return std::nextafter(from, to); });
  }
};

template <class T>
struct NextAfterKernel : Kernel {
  In<T> x, y;
  Out<T> out;

  explicit NextAfterKernel(KernelInit& init) : x(init, "x"), y(init, "y"), out(init, "out") {}
  void run(KernelContext& context) override { map(context, x.numel(), NextAfter{}, out.data(), x.data(), y.data()); }
};

}  // namespace

void define_nextafter(OpTable& ops) {
  ops.add(OpSchema("nextafter")
              .doc("out = the number after x, in the direction of y, among those of the element type; y where they are "
                   "equal, NaN where one is NaN.")
              .input("x", "any shape")
              .input("y", "shape of x")
              .output("out", "shape of x")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_dtype(c, "x", "y");
                require_same_shape(c, "x", "y");
                c.set_output("out", c.input("x"));
              })
              .in_place("x", "out")
              .no_gradient("it is constant between neighbouring numbers")
              .on_gpu()
              .kernels<NextAfterKernel, float, double>());
}

}  // namespace paddle_mini
