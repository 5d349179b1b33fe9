// gaussian_random: Out is drawn from the normal distribution of this mean and standard deviation
#include <algorithm>

#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {
namespace {

template <class T>
struct GaussianRandomKernel : Kernel {
  Out<T> out;
  T mean, deviation;
  int64_t seed;

  explicit GaussianRandomKernel(KernelInit& init)
      : out(init, "Out"), mean(static_cast<T>(init.attr<float>("mean"))),
        deviation(static_cast<T>(init.attr<float>("std"))), seed(init.attr<int32_t>("seed")) {}

  void run(Device& device) override {
    with_generator(device, seed, [this](std::mt19937_64& generator) {
      std::normal_distribution<T> draw(mean, deviation);
      std::generate_n(out.data(), out.numel(), [&] { return draw(generator); });
    });
  }
};

}  // namespace

void define_gaussian_random(OpTable& ops) {
  ops.add(OpSpec("gaussian_random")
              .doc("Each element of Out is drawn from the normal distribution.")
              .output("Out", "of shape `shape`")
              .attr("shape", std::vector<int64_t>{}, "shape of Out; empty: one element")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out, float32 or float64")
              .attr("mean", 0.0f, "mean")
              .attr("std", 1.0f, "standard deviation", at_least(0))
              .attr("seed", 0, "of a generator started anew in each run; 0: the run's generator goes on")
              .infer([](InferContext& c) { c.set_output("Out", c.dtype_attr("dtype"), c.shape_attr("shape")); })
              .no_gradient("it has no inputs")
              .dtype_from_output("Out")
              .kernels<GaussianRandomKernel, float, double>());
}

}  // namespace paddle_mini
