// dirichlet: each row of Out is drawn from the Dirichlet distribution with the concentrations in a row of Alpha
#include "core/op_table.h"
#include "math/random.h"

#include <cmath>
#include <limits>

namespace paddle_mini {
namespace {

// Gamma variates, one for each concentration, divided by their sum (Devroye 1986). Small concentrations give variates that
// underflow, so their logarithms are drawn: Gamma(a) = Gamma(a + 1) U^(1/a).
template <class T>
struct DirichletKernel : Kernel {
  In<T> alpha;
  Out<T> out;
  int64_t width;

  explicit DirichletKernel(KernelInit& init)
      : alpha(init, "Alpha"), out(init, "Out"), width(alpha.shape()[alpha.shape().rank() - 1]) {}

  void run(KernelContext& context) override {
    const int64_t n = alpha.numel();
    for (int64_t i = 0; i < n; ++i) {
      require<OpError>(alpha[i] > T(0) && std::isfinite(alpha[i]), "Alpha has ", alpha[i], " at element ", i,
                       ", a concentration must be above 0 and finite");
    }
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      std::uniform_real_distribution<double> uniform(std::numeric_limits<double>::min(), 1);
      const T* concentration = alpha.data();
      generate(context, out.data(), n, [&] {
        double a = static_cast<double>(*concentration++);
        double logarithm =
            std::log(std::gamma_distribution<double>(a + 1)(generator)) + std::log(uniform(generator)) / a;
        return static_cast<T>(logarithm);
      });
    });
    for (int64_t begin = 0; begin < n; begin += width) normalize(out.data() + begin);
  }

  void normalize(T* row) const {
    double most = static_cast<double>(*std::max_element(row, row + width)), total = 0;
    for (int64_t j = 0; j < width; ++j) total += std::exp(static_cast<double>(row[j]) - most);
    for (int64_t j = 0; j < width; ++j) row[j] = static_cast<T>(std::exp(static_cast<double>(row[j]) - most) / total);
  }
};

}  // namespace

void define_dirichlet(OpTable& ops) {
  ops.add(
      OpSchema("dirichlet")
          .doc("Each row of Out is drawn from the Dirichlet distribution with the concentrations in the same row of "
               "Alpha; its elements sum to 1.")
          .input("Alpha", "[..., n], above 0")
          .output("Out", "shape of Alpha")
          .infer([](InferContext& c) {
            require_tensors(c);
            require<ShapeError>(c.shape("Alpha").rank() > 0, "Alpha has no dimensions");
            c.set_output("Out", c.input("Alpha"));
          })
          .no_gradient("PaddlePaddle has none either")
          .checks_data()
          .cpu_only("the draws that a number takes depend on its concentration")
          .kernels<DirichletKernel, float, double>());
}

}  // namespace paddle_mini
