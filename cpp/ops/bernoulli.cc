// bernoulli: Out = 1 with probability X, else 0
#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {
namespace {

template <class T>
struct BernoulliKernel : Kernel {
  In<T> x;
  Out<T> out;

  explicit BernoulliKernel(KernelInit& init) : x(init, "X"), out(init, "Out") {}
  void run(KernelContext& context) override {
    for (int64_t i = 0, n = x.numel(); i < n; ++i) {
      require<OpError>(x[i] >= T(0) && x[i] <= T(1), "X has ", x[i], " at element ", i,
                       ", a probability must be from 0 to 1");
    }
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      std::uniform_real_distribution<T> uniform(T(0), T(1));
      const T* probability = x.data();
      generate(context, out.data(), x.numel(), [&] { return uniform(generator) < *probability++ ? T(1) : T(0); });
    });
  }
};

}  // namespace

void define_bernoulli(OpTable& ops) {
  ops.add(OpSchema("bernoulli")
              .doc("Each element of Out is 1 with the probability in X, else 0. A probability outside of [0, 1] is an "
                   "error.")
              .input("X", "probabilities, any shape")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X"));
              })
              .no_gradient("its output is constant almost everywhere")
              .in_place("X", "Out")
              .checks_data()
              .cpu_only("it draws on the host, with probabilities that are checked there")
              .kernels<BernoulliKernel, float, double>());
}

}  // namespace paddle_mini
