// bias_corrected_average: Out = Average + (rho + gamma t)^-eta (Param - Initial)
#include "math/average_state.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct BiasCorrection {
  T part;
  bool none;  // true before the first update

  template <class V>
  PM_HD V operator()(V param, V average, V initial) const {
    if constexpr (kOnGpu) {
      if (none) return param;
    }
    return average + V(part) * (param - initial);
  }
};

template <class T>
struct BiasCorrectionRule {
  static constexpr bool batchable = true;
  ScalarArg<int64_t> updates;
  double rho, gamma, eta;

  PM_HD BiasCorrection<T> bind_scalars() const {
    int64_t u = updates();
    return {static_cast<T>(std::pow(rho + gamma * static_cast<double>(u - 1), -eta)), u == 0};
  }
};

// An exponential average lags behind parameters that still move. A share of their movement since the start, which
// decreases with time, compensates for this (BEMA, Block & Zhang 2025, arXiv 2508.00180).
template <class T>
struct BiasCorrectedAverageKernel : Kernel {
  In<T> param, average, initial;
  In<int64_t> counters;
  Out<T> out;
  double rho, gamma, eta;

  explicit BiasCorrectedAverageKernel(KernelInit& init)
      : param(init, "Param"), average(init, "Average"), initial(init, "Initial"), counters(init, "Counters"),
        out(init, "Out"), rho(init.attr<double>("rho")), gamma(init.attr<double>("gamma")),
        eta(init.attr<double>("eta")) {}

  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(bias_corrected_average)

namespace paddle_mini {

void define_bias_corrected_average(OpTable& ops) {
  ops.add(OpSchema("bias_corrected_average")
              .doc("Out = Average + (rho + gamma (u - 1))^-eta (Param - Initial) after u updates; before the first "
                   "one, Param.")
              .input("Param", "any shape")
              .input("Average", "shape of Param, from parameter_average")
              .input("Initial", "shape of Param: the parameters at the first update")
              .input("Counters", "[5] int64, from average_weight")
              .output("Out", "shape of Param")
              .attr("rho", 10.0, "delays the start of the decay", at_least(1))
              .attr("gamma", 1.0, "rate at which the correction decreases", at_least(0))
              .attr("eta", 0.2, "power by which the correction decreases", between(0, 1))
              .infer([](InferContext& c) {
                for (const char* port : {"Average", "Initial"}) {
                  require_same_dtype(c, "Param", port);
                  require_same_shape(c, "Param", port);
                }
                require_number(c, "Average");
                require_vector(c, "Counters", DType::Int64, kAverageCounters);
                c.set_output("Out", c.input("Param"));
              })
              .no_gradient("an average of parameters has no gradient")
              .in_place("Param", "Out")
              .on_gpu()
              .kernels<BiasCorrectedAverageKernel, float, double>());
}

}  // namespace paddle_mini
