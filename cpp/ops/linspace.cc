// linspace: Out = Num evenly spaced numbers from Start to Stop
#include "core/op_table.h"
#include "ops/family/first_number.h"

namespace paddle_mini {
namespace {

template <class T>
struct LinspaceKernel : Kernel {
  const Variable &start, &stop;
  Out<T> out;

  explicit LinspaceKernel(KernelInit& init)
      : start(*init.input("Start")), stop(*init.input("Stop")), out(init, "Out") {}

  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(linspace)

namespace paddle_mini {

void define_linspace(OpTable& ops) {
  ops.add(OpSchema("linspace")
              .doc("Out = Num evenly spaced numbers from Start to Stop, inclusive; if Num is 1, Start. Start and Stop "
                   "are cast to `dtype` first.")
              .input("Start", "one number")
              .input("Stop", "one number")
              .input("Num", "one int32 or int64: the number of elements, at least 1")
              .output("Out", "[Num], of `dtype`")
              .attr("dtype", 5, "element type of Out: float32, float64, int32 or int64")
              .infer([](InferContext& c) {
                c.set_output("Out", c.dtype_attr("dtype"), Shape{checked_count(c, {"Start", "Stop"})});
              })
              .dtype_from_output("Out")
              .no_gradient("its output is constant almost everywhere")
              .on_gpu()
              .kernels<LinspaceKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
