// ring_mean: the mean of the parameters that parameter_ring has stored
#include "math/average_state.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct RingMeanKernel : Kernel {
  In<T> param, ring;
  In<int64_t> counters;
  Out<T> out;

  explicit RingMeanKernel(KernelInit& init)
      : param(init, "Param"), ring(init, "Ring"), counters(init, "Counters"), out(init, "Out") {}

  // Computed from scratch in each run, so rounding errors do not accumulate; as a + (p - a) / n, so no sum overflows.
  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(ring_mean)

namespace paddle_mini {

void define_ring_mean(OpTable& ops) {
  ops.add(OpSchema("ring_mean")
              .doc("Out = the mean of the parameters in the ring of parameter_ring, at most k; before the first "
                   "update, Param.")
              .input("Param", "any shape")
              .input("Ring", "[k, shape of Param]")
              .input("Counters", "[5] int64, from average_weight")
              .output("Out", "shape of Param")
              .infer([](InferContext& c) {
                require_ring(c);
                require_vector(c, "Counters", DType::Int64, kAverageCounters);
                c.set_output("Out", c.input("Param"));
              })
              .no_gradient("an average of parameters has no gradient")
              .in_place("Param", "Out")
              .on_gpu()
              .kernels<RingMeanKernel, float, double>());
}

}  // namespace paddle_mini
