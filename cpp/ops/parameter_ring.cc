// parameter_ring: a ring buffer of the latest k parameters
#include "math/average_state.h"

namespace paddle_mini {
namespace {

template <class T>
struct ParameterRingKernel : Kernel {
  In<T> param, ring;
  In<int64_t> counters;
  NumberIn weight;
  Out<T> ring_out;
  bool checks;

  explicit ParameterRingKernel(KernelInit& init)
      : param(init, "Param"), ring(init, "Ring"), counters(init, "Counters"), weight(init, "Weight"),
        ring_out(init, "RingOut"), checks(init.attr<bool>("check_finite")) {}

  void refuse(const Fault&) const override { fail<OpError>("Param is not finite: it does not enter the average"); }
  void run(KernelContext& context) override;
};

void infer_parameter_ring(InferContext& c) {
  require_ring(c);
  require_vector(c, "Counters", DType::Int64, kAverageCounters);
  require_number(c, "Weight");
  require_scalar(c, "Weight");
  c.set_output("RingOut", c.input("Ring"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(parameter_ring)

namespace paddle_mini {

void define_parameter_ring(OpTable& ops) {
  ops.add(OpSchema("parameter_ring")
              .doc("RingOut = Ring with Param at index (u - 1) modulo k in update u, unless Weight is 0. The ring "
                   "holds the k latest parameters (Kaddour 2022), and ring_mean computes their mean.")
              .input("Param", "any shape")
              .input("Ring", "[k, shape of Param]")
              .input("Counters", "[5] int64, from average_weight, including this step")
              .input("Weight", "one element, from average_weight: 0 if nothing is stored in this step")
              .output("RingOut", "the same variable as Ring")
              .attr("check_finite", false, "whether NaN or infinity in Param is an error")
              .infer(infer_parameter_ring)
              .no_gradient("a buffer of parameters has no gradient")
              .updates("Ring", "RingOut")
              .on_gpu()
              .kernels<ParameterRingKernel, float, double>());
}

}  // namespace paddle_mini
