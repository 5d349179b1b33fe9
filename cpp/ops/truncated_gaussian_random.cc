// truncated_gaussian_random: Out is drawn from a normal distribution truncated at two standard deviations from its mean
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {
namespace {

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The x with normal_cdf(x) = p, for |x| <= 2, by Newton's method. Its iterates start at 0 and approach x without
// overshooting, since the density falls away from 0.
double normal_quantile(double p) {
  constexpr double inverse_sqrt_two_pi = 0.3989422804014327;
  double x = 0;
  for (int i = 0; i < 50; ++i) {
    double step = (p - normal_cdf(x)) / (inverse_sqrt_two_pi * std::exp(-x * x / 2));
    x += step;
    if (std::fabs(step) <= 1e-15 * std::fabs(x)) break;
  }
  return x;
}

// Inverse transform sampling: mean + std q(c(-2) + (c(2) - c(-2)) u) with u uniform in (0, 1), c the CDF, q = c^-1.
template <class T>
struct TruncatedGaussianRandomKernel : Kernel {
  Out<T> out;
  double mean, deviation;
  int64_t seed;

  explicit TruncatedGaussianRandomKernel(KernelInit& init)
      : out(init, "Out"), mean(static_cast<double>(init.attr<float>("mean"))),
        deviation(static_cast<double>(init.attr<float>("std"))), seed(init.attr<int32_t>("seed")) {}

  void run(KernelContext& context) override {
    const double low = normal_cdf(-2), width = normal_cdf(2) - low;
    with_generator(context, seed, [&](std::mt19937_64& generator) {
      std::uniform_real_distribution<T> draw(std::numeric_limits<float>::min(), T(1));
      make_on_host(context, out.numel(), out.data(), [&](T* to) {
        generate(context, to, out.numel(), [&] {
          double u = static_cast<double>(draw(generator));
          return static_cast<T>(mean + deviation * normal_quantile(low + width * u));
        });
      });
    });
  }
};

}  // namespace

void define_truncated_gaussian_random(OpTable& ops) {
  ops.add(OpSchema("truncated_gaussian_random")
              .doc("Each element of Out is a sample of the normal distribution truncated at two standard deviations "
                   "from the mean.")
              .output("Out", "the attribute `shape` is its shape")
              .required_attr("shape", AttrType::Ints, "shape of Out; empty: one element")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out, float32 or float64")
              .attr("mean", 0.0f, "mean")
              .attr("std", 1.0f, "standard deviation before truncation", at_least(0))
              .attr("seed", 0, "seed of a generator that restarts in each run; 0: the executor's generator continues")
              .infer([](InferContext& c) { c.set_output("Out", c.dtype_attr("dtype"), c.shape_attr("shape")); })
              .no_gradient("it has no inputs")
              .on_gpu()
              .kernels<TruncatedGaussianRandomKernel, float, double>());
}

}  // namespace paddle_mini
