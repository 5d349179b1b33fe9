// exponential: Out is drawn from the exponential distribution
#include "core/op_table.h"
#include "math/random.h"

#include <cmath>

namespace paddle_mini {
namespace {

// Inverse transform sampling: -log(1 - u) / lambda with u uniform in [0, 1).
template <class T>
struct ExponentialKernel : Kernel {
  Out<T> out;
  T rate;

  explicit ExponentialKernel(KernelInit& init) : out(init, "Out"), rate(static_cast<T>(init.attr<float>("lambda"))) {}
  void run(KernelContext& context) override {
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      std::uniform_real_distribution<T> uniform(T(0), T(1));
      make_on_host(context, out.numel(), out.data(), [&](T* to) {
        generate(context, to, out.numel(), [&] { return -std::log1p(-uniform(generator)) / rate; });
      });
    });
  }
};

void positive_rate(const std::string& name, const AttrValue& value) {
  float rate = std::get<float>(value);
  require<ProgramError>(rate > 0 && std::isfinite(rate), "attribute '", name, "' is ", rate,
                        ", it must be above 0 and finite");
}

}  // namespace

void define_exponential(OpTable& ops) {
  ops.add(OpSchema("exponential")
              .doc("Each element of Out is drawn from the exponential distribution with mean 1 / lambda; of X only the "
                   "shape and the element type are read.")
              .shape_input("X", "any shape")
              .output("Out", "shape of X")
              .attr("lambda", 1.0f, "the rate", positive_rate)
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X"));
              })
              .no_gradient("the values of X are not read")
              .on_gpu()
              .kernels<ExponentialKernel, float, double>());
}

}  // namespace paddle_mini
