// gumbel_softmax: Out = softmax((X + Gumbel noise) / temperature) along an axis
#include "core/op_table.h"
#include "math/for_each_line.h"
#include "math/number.h"
#include "math/random.h"

#include <limits>

namespace paddle_mini {
namespace {

// `out` contains the noise when a line begins.
template <class T>
struct NoisySoftmax {
  int64_t length, step;
  T temperature;
  bool hard;
  const T* x;
  T* out;

  PM_HD void operator()(int64_t begin) const {
    T most = -std::numeric_limits<T>::infinity(), total = 0;
    int64_t chosen = 0;
    for (int64_t j = 0; j < length; ++j) {
      int64_t at = begin + j * step;
      out[at] = (x[at] + out[at]) / temperature;
      if (out[at] > most) most = out[at], chosen = j;
    }
    for (int64_t j = 0; j < length; ++j) {
      int64_t at = begin + j * step;
      out[at] = hard ? T(j == chosen) : exp(out[at] - most);
      total += out[at];
    }
    for (int64_t j = 0; j < length; ++j) out[begin + j * step] /= total;
  }
};

template <class T>
struct NoisySoftmaxGrad {
  int64_t length, step;
  T temperature;
  const T *out, *out_gradient;
  T* x_gradient;

  PM_HD void operator()(int64_t begin) const {
    T product = 0;
    for (int64_t j = 0; j < length; ++j) product += out[begin + j * step] * out_gradient[begin + j * step];
    for (int64_t j = 0; j < length; ++j) {
      int64_t at = begin + j * step;
      x_gradient[at] = out[at] * (out_gradient[at] - product) / temperature;
    }
  }
};

constexpr double kGumbelCost = 8;

template <class T>
struct GumbelSoftmaxKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisLines lines;
  T temperature;
  bool hard;

  explicit GumbelSoftmaxKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), lines(x.shape(), init.attr<int32_t>("axis")),
        temperature(static_cast<T>(init.attr<float>("temperature"))), hard(init.attr<bool>("hard")) {}

  void run(KernelContext& context) override {
    const int64_t n = x.numel();
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      // Not 0, whose logarithm is infinite.
      std::uniform_real_distribution<T> uniform(std::numeric_limits<T>::min(), T(1));
      make_on_host(context, n, out.data(),
                   [&](T* to) { generate(context, to, n, [&] { return -log(-log(uniform(generator))); }); });
    });
    NoisySoftmax<T> softmax{lines.length, lines.inner, temperature, hard, x.data(), out.data()};
    for_each_line(context, lines, kGumbelCost, softmax);
  }
};

template <class T>
struct GumbelSoftmaxGradKernel : Kernel {
  In<T> out, out_gradient;
  Out<T> x_gradient;
  AxisLines lines;
  T temperature;

  explicit GumbelSoftmaxGradKernel(KernelInit& init)
      : out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        lines(out.shape(), init.attr<int32_t>("axis")), temperature(static_cast<T>(init.attr<float>("temperature"))) {}
  void run(KernelContext& context) override {
    NoisySoftmaxGrad<T> gradient{lines.length, lines.inner,         temperature,
                                 out.data(),   out_gradient.data(), x_gradient.data()};
    for_each_line(context, lines, kGumbelCost, gradient);
  }
};

void positive_temperature(const std::string& name, const AttrValue& value) {
  float number = std::get<float>(value);
  require<ProgramError>(number > 0, "attribute '", name, "' is ", number, ", it must be above 0");
}

}  // namespace

void define_gumbel_softmax(OpTable& ops) {
  ops.add(OpSchema("gumbel_softmax")
              .doc("Out = softmax((X + G) / temperature) along the axis, where each element of G is drawn from the "
                   "standard Gumbel distribution (Jang et al. 2017). With hard, Out is 1 for the largest element and 0 "
                   "for all others.")
              .input("X", "logarithms of weights, any shape")
              .output("Out", "shape of X")
              .attr("temperature", 1.0f, "the divisor", positive_temperature)
              .attr("hard", false, "whether Out selects one element")
              .attr("axis", -1, "the axis; negative ones count from the end")
              .infer([](InferContext& c) {
                require_tensors(c);
                check_axis(c.shape("X"), c.attr<int32_t>("axis"));
                c.set_output("Out", c.input("X"));
              })
              .gradient("gumbel_softmax_grad", {"Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<GumbelSoftmaxKernel, float, double>());
  ops.add(ops.gradient_of("gumbel_softmax")
              .doc("X@GRAD = Out (Out@GRAD - the sum of Out Out@GRAD along the axis) / temperature, which is 0 with "
                   "hard. PaddlePaddle does not divide by the temperature.")
              .infer([](InferContext& c) {
                require_tensors(c);
                check_axis(c.shape("Out"), c.attr<int32_t>("axis"));
                require_same_shape(c, "Out", "Out@GRAD");
                require_same_dtype(c, "Out", "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out"));
              })
              .kernels<GumbelSoftmaxGradKernel, float, double>());
}

}  // namespace paddle_mini
