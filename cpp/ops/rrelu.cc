// rrelu: Out = X where it is positive, else X times a random slope
#include "core/op_table.h"
#include "math/arithmetic.h"
#include "math/map.h"
#include "math/random.h"

#include <cmath>

namespace paddle_mini {
namespace {

// (Out, Noise) from X and a slope
struct RandomSlope {
  template <class V>
  PM_HD std::tuple<V, V> operator()(V x, V slope) const {
    V factor = select(x < V(0), slope, V(1));
    return {x * factor, factor};
  }
};
template <class T>
struct MeanSlope {
  T slope;
  template <class V>
  PM_HD std::tuple<V, V> operator()(V x) const {
    return RandomSlope{}(x, V(slope));
  }
};
struct NoiseTimesGradient {
  template <class V>
  PM_HD V operator()(V noise, V gradient) const {
    return noise * gradient;
  }
};

template <class T>
struct RreluKernel : Kernel {
  In<T> x;
  Out<T> out, noise;
  T lower, upper;
  bool test;

  explicit RreluKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), noise(init, "Noise"), lower(static_cast<T>(init.attr<float>("lower"))),
        upper(static_cast<T>(init.attr<float>("upper"))), test(init.attr<bool>("is_test")) {}
  void run(KernelContext& context) override {
    int64_t n = x.numel();
    if (test) {
      map(context, n, MeanSlope<T>{(lower + upper) / T(2)}, std::tuple(out.data(), noise.data()), x.data());
      return;
    }
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      std::uniform_real_distribution<T> draw(lower, upper);
      make_on_host(context, n, noise.data(), [&](T* to) { generate(context, to, n, [&] { return draw(generator); }); });
    });
    const T* slopes = noise.data();
    map(context, n, RandomSlope{}, std::tuple(out.data(), noise.data()), x.data(), slopes);
  }
};

template <class T>
struct RreluGradKernel : Kernel {
  In<T> noise, out_gradient;
  Out<T> x_gradient;

  explicit RreluGradKernel(KernelInit& init)
      : noise(init, "Noise"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    map(context, noise.numel(), NoiseTimesGradient{}, x_gradient.data(), noise.data(), out_gradient.data());
  }
};

}  // namespace

void define_rrelu(OpTable& ops) {
  ops.add(OpSchema("rrelu")
              .doc("Out = X where X >= 0, else X times a slope that is drawn from [lower, upper) for each element; in "
                   "a test (lower + upper) / 2 (Xu et al. 2015).")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .output("Noise", "shape of X: the factors, 1 where X >= 0")
              .attr("is_test", false, "whether the slope is the mean of lower and upper")
              .attr("lower", 0.125f, "the least slope", between(0, 1))
              .attr("upper", 0.3333333432674408f, "the upper bound of slopes", between(0, 1))
              .infer([](InferContext& c) {
                require_tensors(c);
                float lower = c.attr<float>("lower"), upper = c.attr<float>("upper");
                require<ProgramError>(lower <= upper, "attribute 'lower' is ", lower, ", which is above 'upper', ",
                                      upper);
                c.set_output("Out", c.input("X"));
                c.set_output("Noise", c.input("X"));
              })
              .gradient("rrelu_grad", {"X", "Noise", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<RreluKernel, float, double>());
  ops.add(ops.gradient_of("rrelu")
              .doc("X@GRAD = Noise Out@GRAD.")
              .shape_only("X")
              .infer([](InferContext& c) {
                require_tensors(c);
                for (const char* port : {"Noise", "Out@GRAD"}) {
                  require_same_shape(c, "X", port);
                  require_same_dtype(c, "X", port);
                }
                gradients_like_inputs(c);
              })
              .kernels<RreluGradKernel, float, double>());
}

}  // namespace paddle_mini
