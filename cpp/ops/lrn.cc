// lrn: Out = X / (k + alpha sum of X^2 over n neighbouring channels)^beta
#include <cmath>

#include "core/op_table.h"
#include "math/axis_lines.h"
#include "math/for_each_index.h"
#include "math/number.h"

namespace paddle_mini {
namespace {

template <class Context>
int channel_axis(const Context& c) {
  return c.template attr<std::string>("data_format") == "NHWC" ? 3 : 1;
}

// The attributes, and the channels of one pixel as a line along the channel axis.
template <class T>
struct Neighbours {
  AxisLines lines;
  int64_t reach;
  T k, alpha, beta;

  Neighbours(const KernelInit& init, const Shape& x)
      : lines(x, channel_axis(init)), reach((init.attr<int32_t>("n") - 1) / 2),
        k(static_cast<T>(init.attr<float>("k"))), alpha(static_cast<T>(init.attr<float>("alpha"))),
        beta(static_cast<T>(init.attr<float>("beta"))) {}

  // Sum of f(i) over channel c and its neighbours; `begin` is the start of the line and i the index of an element.
  template <class F>
  PM_HD T sum(int64_t begin, int64_t c, F f) const {
    int64_t first = c > reach ? c - reach : 0, last = c + reach < lines.length ? c + reach : lines.length - 1;
    T total = 0;
    for (int64_t j = first; j <= last; ++j) total += f(begin + j * lines.inner);
    return total;
  }
};

template <class T>
struct LrnKernel : Kernel {
  In<T> x;
  Out<T> out, mid_out;
  Neighbours<T> near;

  explicit LrnKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), mid_out(init, "MidOut"), near(init, x.shape()) {}

  void run(KernelContext& context) override;
};

template <class T>
struct LrnGradKernel : Kernel {
  In<T> x, out, mid_out, out_gradient;
  Out<T> x_gradient;
  Neighbours<T> near;

  explicit LrnGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), mid_out(init, "MidOut"), out_gradient(init, "Out@GRAD"),
        x_gradient(init, "X@GRAD"), near(init, x.shape()) {}

  void run(KernelContext& context) override;
};

void check_lrn(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
}

void odd(const std::string& name, const AttrValue& value) {
  int32_t n = std::get<int32_t>(value);
  require<ProgramError>(n > 0 && n % 2 == 1, "attribute '", name, "' is ", n, ", it must be odd");
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(lrn)

namespace paddle_mini {

void define_lrn(OpTable& ops) {
  ops.add(OpSchema("lrn")
              .doc("Out = X / MidOut^beta with MidOut = k + alpha times the sum of X^2 over the n nearest channels "
                   "(Krizhevsky et al. 2012).")
              .attr("n", 5, "the number of channels in a sum, half of them on either side", odd)
              .attr("k", 2.0f, "added to the sum", at_least(0))
              .attr("alpha", 1e-4f, "factor of the sum", at_least(0))
              .attr("beta", 0.75f, "the power", at_least(0))
              .attr("data_format", "AnyLayout", "NHWC: the last axis has the channels; otherwise axis 1 has them",
                    one_of({"AnyLayout", "NCHW", "NHWC"}))
              .input("X", "[images, channels, height, width], or channels last according to data_format")
              .output("Out", "shape of X")
              .output("MidOut", "shape of X")
              .infer([](InferContext& c) {
                check_lrn(c);
                for (const char* port : {"Out", "MidOut"}) c.set_output(port, c.input("X"));
              })
              .gradient("lrn_grad", {"X", "Out", "MidOut", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<LrnKernel, float, double>());
  ops.add(ops.gradient_of("lrn")
              .doc("X@GRAD = Out@GRAD / MidOut^beta - 2 alpha beta X times the sum of Out@GRAD Out / MidOut over the "
                   "same channels.")
              .kernels<LrnGradKernel, float, double>());
}

}  // namespace paddle_mini
