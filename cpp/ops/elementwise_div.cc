// elementwise_div: Out = X / Y, with Y broadcast over X
#include "core/widening.h"
#include "math/fill.h"
#include "math/map.h"
#include "math/wrapping_times.h"
#include "ops/family/integer_division.h"
#include "ops/family/of_complex.h"
#include "ops/family/promoting.h"

namespace paddle_mini {
namespace {

using Divide = WrappingQuotient;

struct OverY {
  template <class V>
  PM_HD V operator()(V, V y, V gradient) const {
    return gradient / conj(y);
  }
};

struct QuotientTimes {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x * y;
  }
};

struct QuotientMinusTimes {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return -x * y;
  }
};

struct QuotientMinus {
  template <class V>
  PM_HD V operator()(V x) const {
    return -x;
  }
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x - y;
  }
};

struct MinusProductOverY {
  template <class V>
  PM_HD V operator()(V x, V y, V factor) const {
    return -factor * x / y;
  }
};

struct TimesOutOverY {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return -gradient * conj(x / y) / conj(y);
  }
};

// With DX = the gradient of X, which has the shape of Out: DDOut = (DDX - Out DDY) / Y.
template <class T>
struct DivideSecondKernel : Kernel {
  In<T> y, out, x_gradient, second_x, second_y;
  Out<T> y_gradient, out_gradient, second_out;
  Scratch<T> scaled, difference;
  Broadcast broadcast;

  explicit DivideSecondKernel(KernelInit& init)
      : y(init, "Y"), out(init, "Out"), x_gradient(init, "DX"), second_x(init, "DDX", optional_port),
        second_y(init, "DDY", optional_port), y_gradient(init, "Y@GRAD", optional_port),
        out_gradient(init, "DOut", optional_port), second_out(init, "DDOut", optional_port), scaled(init, out.numel()),
        difference(init, out.numel()), broadcast(out.shape(), y.shape(), init.attr<int32_t>("axis")) {}

  void run(KernelContext& context) override {
    int64_t n = out.numel();
    // scaled = Out DDY, difference = DDX - Out DDY
    if (second_y) broadcast.map(context, QuotientTimes{}, out.data(), second_y.data(), scaled.data());
    else fill_n(context, scaled.data(), n, T(0));
    if (second_x) map(context, n, QuotientMinus{}, difference.data(), second_x.data(), scaled.data());
    else map(context, n, QuotientMinus{}, difference.data(), scaled.data());
    if (second_out) broadcast.map(context, Divide{}, difference.data(), y.data(), second_out.data());
    // Y@GRAD = -DX (DDX - Out DDY) / Y, DOut = -DX DDY
    if (y_gradient)
      broadcast.sum_to_y(context, MinusProductOverY{}, difference.data(), y.data(), x_gradient.data(),
                         y_gradient.data());
    if (!out_gradient) return;
    if (second_y) broadcast.map(context, QuotientMinusTimes{}, x_gradient.data(), second_y.data(), out_gradient.data());
    else fill_n(context, out_gradient.data(), n, T(0));
  }
};

std::vector<OpDesc> divide_second_rule(const OpDesc& first) {
  require<ProgramError>(!first.output("X@GRAD").empty() && !first.input("Out").empty(),
                        "its gradient has a gradient only where that of X is computed, too, from Out");
  std::vector<Slot> inputs = {{"Y", first.input("Y")},
                              {"Out", first.input("Out")},
                              {"DX", first.output("X@GRAD")},
                              {"DDX", gradient_names(first.output("X@GRAD"))}};
  if (!first.output("Y@GRAD").empty()) inputs.push_back({"DDY", gradient_names(first.output("Y@GRAD"))});
  return {make_op("elementwise_div_grad_grad", inputs,
                  {{"Y@GRAD", gradient_names(first.input("Y"))},
                   {"DOut", gradient_names(first.input("Out"))},
                   {"DDOut", gradient_names(first.input("Out@GRAD"))}},
                  first.attrs)};
}

void infer_divide_second(InferContext& c) {
  require_tensors(c);
  for (const auto& [port, like] : {std::pair{"DX", "Out"}, std::pair{"DDX", "Out"}, std::pair{"DDY", "Y"}}) {
    if (!c.has_input(port)) continue;
    require_same_dtype(c, like, port);
    require_same_shape(c, like, port);
  }
  require_same_dtype(c, "Y", "Out");
  Shape shape = broadcast_shape(c.shape("Out"), c.shape("Y"), c.attr<int32_t>("axis"));
  require<ShapeError>(shapes_agree(shape, c.shape("Out")), "Y has shape ", c.shape("Y").str(), ", Out has ",
                      c.shape("Out").str());
  c.set_output("Y@GRAD", c.input("Y"));
  c.set_output("DOut", c.input("Out"));
  c.set_output("DDOut", c.input("Out"));
}

}  // namespace

void define_elementwise_div(OpTable& ops) {
  ops.add(
      also({DType::Bool},
           promotes_complex(with_complex<BinaryKernel<Divide>::For>(
               binary("elementwise_div")
                   .infer(infer_promoting_broadcast)
                   .doc("Out = X / Y. Y's dimensions are aligned with X's from `axis` on; dimensions of 1 are "
                        "broadcast. Quotients of integers are truncated towards zero; for integers, Y = 0 is an error.")
                   .gradient("elementwise_div_grad", {"X", "Y", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
                   .checks_data()
                   .kernels<IntegerDivisionKernel<Divide>::For, float, double, int32_t, int64_t>()))));
  ops.add(also(
      {DType::Bool, DType::Int8, DType::UInt8, DType::Int16},
      promotes_complex(with_complex<BinaryGradKernel<OverY, TimesOutOverY>::For>(
          binary_gradient(ops, "elementwise_div")
              .gradient(divide_second_rule)
              .doc("X@GRAD = Out@GRAD / Y and Y@GRAD = -Out@GRAD X / Y^2, each summed over the axes it was broadcast "
                   "along; of complex numbers with the conjugates of Y and X.")
              .optional_input("Out", "from the forward operator; not read, because X / Y is computed again")
              .kernels<BinaryGradKernel<OverY, TimesOutOverY>::For, float, double>()))));
  ops.add(OpSchema("elementwise_div_grad_grad")
              .doc("The gradient of elementwise_div_grad: DDOut = (DDX - Out DDY) / Y, DOut = -DX DDY, and Y@GRAD = "
                   "-DX DDOut, summed over the axes Y was broadcast along.")
              .input("Y", "from the operator")
              .input("Out", "from the operator")
              .input("DX", "the gradient of X; shape of Out")
              .optional_input("DDX", "the gradient of DX; absent: zeros")
              .optional_input("DDY", "the gradient of the gradient of Y; absent: zeros")
              .optional_output("Y@GRAD", "the gradient of Y")
              .optional_output("DOut", "the gradient of Out")
              .optional_output("DDOut", "the gradient of the gradient of Out")
              .attr("axis", -1, "as of elementwise_div", at_least(-1))
              .infer(infer_divide_second)
              .on_gpu()
              .kernels<DivideSecondKernel, float, double>());
}

}  // namespace paddle_mini
