// poisson: Out is drawn from the Poisson distributions with the means in X
#include "core/op_table.h"
#include "math/copy.h"
#include "math/random.h"

#include <cmath>

namespace paddle_mini {
namespace {

// The standard library's distribution makes integers of 64 bits.
constexpr double kMostPoissonMean = 1e18;

template <class T>
struct PoissonKernel : Kernel {
  In<T> x;
  Out<T> out;

  explicit PoissonKernel(KernelInit& init) : x(init, "X"), out(init, "Out") {}
  void run(KernelContext& context) override {
    for (int64_t i = 0, n = x.numel(); i < n; ++i) {
      double mean = static_cast<double>(x[i]);
      require<OpError>(mean >= 0 && mean <= kMostPoissonMean, "X has ", x[i], " at element ", i,
                       ", a mean must be from 0 to ", kMostPoissonMean);
    }
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      const T* mean = x.data();
      generate(context, out.data(), x.numel(), [&] {
        double of_this = static_cast<double>(*mean++);
        return of_this == 0 ? T(0) : static_cast<T>(std::poisson_distribution<int64_t>(of_this)(generator));
      });
    });
  }
};

template <class T>
struct PoissonGradKernel : Kernel {
  Out<T> x_gradient;

  explicit PoissonGradKernel(KernelInit& init) : x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override { fill_n(context, x_gradient.data(), x_gradient.numel(), T(0)); }
};

}  // namespace

void define_poisson(OpTable& ops) {
  ops.add(OpSchema("poisson")
              .doc("Each element of Out is drawn from the Poisson distribution with the mean in X. A negative mean is "
                   "an error.")
              .input("X", "means, any shape")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X"));
              })
              .gradient("poisson_grad", {"Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .checks_data()
              .cpu_only("the draws that a number takes depend on its mean")
              .kernels<PoissonKernel, float, double>());
  ops.add(ops.gradient_of("poisson")
              .doc("X@GRAD = 0, as in PaddlePaddle: counts do not change with small changes of the mean.")
              .shape_only("Out@GRAD")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("X@GRAD", c.input("Out@GRAD"));
              })
              .kernels<PoissonGradKernel, float, double>());
}

}  // namespace paddle_mini
