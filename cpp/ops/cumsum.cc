// cumsum: Out[j] = the sum of X up to j along an axis
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/axis_lines.h"

namespace paddle_mini {
namespace {

// The gradient is the same sum in the opposite direction.
template <class T>
class RunningSum : public Kernel {
 public:
  RunningSum(KernelInit& init, const char* in, const char* out, bool backward)
      : in_(init, in), out_(init, out), exclusive_(init.attr<bool>("exclusive")),
        reverse_(init.attr<bool>("reverse") != backward) {
    if (init.attr<bool>("flatten")) lines_.length = in_.numel();
    else lines_ = AxisLines(out_.shape(), init.attr<int32_t>("axis"));
  }

  void run(KernelContext& context) override;

 private:
  In<T> in_;
  Out<T> out_;
  AxisLines lines_;
  bool exclusive_, reverse_;
};

template <class T>
struct CumsumKernel : RunningSum<T> {
  explicit CumsumKernel(KernelInit& init) : RunningSum<T>(init, "X", "Out", false) {}
};
template <class T>
struct CumsumGradKernel : RunningSum<T> {
  explicit CumsumGradKernel(KernelInit& init) : RunningSum<T>(init, "Out@GRAD", "X@GRAD", true) {}
};

Shape cumsum_shape(const InferContext& c) {
  const Shape& x = c.shape("X");
  if (c.attr<bool>("flatten")) return {x.numel(0, x.rank())};
  check_axis(x, c.attr<int32_t>("axis"));
  return x;
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(cumsum)

namespace paddle_mini {

void define_cumsum(OpTable& ops) {
  ops.add(OpSchema("cumsum")
              .doc("Out[j] = X[0] + ... + X[j] along the axis.")
              .input("X", "any shape")
              .output("Out", "shape of X; one dimension if flatten")
              .attr("axis", -1, "the axis; negative ones count from the end")
              .attr("flatten", false, "whether X is flattened first; then `axis` is not used")
              .attr("exclusive", false, "whether a sum excludes its own element")
              .attr("reverse", false, "whether the sums start at the end")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, cumsum_shape(c));
              })
              .gradient("cumsum_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<CumsumKernel, float, double, int16_t, int32_t, int64_t>());
  ops.add(linear_gradient_of(ops, "cumsum")
              .shape_only("X")
              .doc("X@GRAD[j] = Out@GRAD[j] + ... + Out@GRAD[last], the gradients of the sums with X[j].")
              .kernels<CumsumGradKernel, float, double>());
}

}  // namespace paddle_mini
