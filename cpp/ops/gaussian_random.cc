// gaussian_random: Out is drawn from the normal distribution with a given mean and standard deviation
#include <algorithm>

#include "core/op_table.h"
#include "math/random.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttr kGaussianShape{"shape", "ShapeTensor", "ShapeTensorList"};

template <class T>
struct GaussianRandomKernel : Kernel {
  Out<T> out;
  T mean, deviation;
  int64_t seed;

  explicit GaussianRandomKernel(KernelInit& init)
      : out(init, "Out"), mean(static_cast<T>(init.attr<float>("mean"))),
        deviation(static_cast<T>(init.attr<float>("std"))), seed(init.attr<int32_t>("seed")) {}

  void run(KernelContext& context) override {
    with_generator(context, seed, [&](std::mt19937_64& generator) {
      make_on_host(context, out.numel(), out.data(), [&](T* to) {
        std::normal_distribution<T> draw(mean, deviation);
        generate(context, to, out.numel(), [&] { return draw(generator); });
      });
    });
  }
};

}  // namespace

void define_gaussian_random(OpTable& ops) {
  ops.add(
      with_tensor_ports(OpSchema("gaussian_random").output("Out", "the attribute `shape` is its shape"),
                        {kGaussianShape})
          .doc("Each element of Out is a sample of the normal distribution.")
          .attr("shape", std::vector<int64_t>{}, "shape of Out; empty: one element")
          .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out, float32 or float64")
          .attr("mean", 0.0f, "mean")
          .attr("std", 1.0f, "standard deviation", at_least(0))
          .attr("seed", 0, "seed of a generator that restarts in each run; 0: the executor's generator continues")
          .infer([](InferContext& c) { c.set_output("Out", c.dtype_attr("dtype"), settled_shape(c, kGaussianShape)); })
          .no_gradient("its input is a shape, which has no gradient")
          .dtype_from_output("Out")
          .on_gpu()
          .kernels<GaussianRandomKernel, float, double>());
}

}  // namespace paddle_mini
