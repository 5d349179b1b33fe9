// parameter_ring: keeps the latest k parameters, each in the place of the oldest
#include "math/average_state.h"

#ifdef PM_GPU
#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/gpu/raise.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct IntoRing {
  const T* param;
  Uniform<int64_t> updates;
  Uniform<double> weight;
  T* ring;
  int64_t numel, places;
  bool checks;
  Fault* fault;
  unsigned long long step;

  PM_DEVICE void operator()(int64_t i) const {
    if (weight() == 0) return;
    if (checks && !(param[i] - param[i] == T(0))) return raise(fault, step, 0, i);
    int64_t done = updates() - 1;
    ring[(done < 0 ? 0 : done) % places * numel + i] = param[i];
  }
};
#endif

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

#ifdef PM_GPU
  void refuse(const Fault&) const override { fail<OpError>("Param is not finite: it does not enter the average"); }

  void run(Device& device) override {
    if (ring.data() != ring_out.data()) copy_n(device, ring.data(), ring.numel(), ring_out.data());
    IntoRing<T> step{param.data(),  Uniform<int64_t>(counters, kUpdates),
                     weight,        ring_out.data(),
                     param.numel(), ring.shape()[0],
                     checks,        device.fault,
                     device.step};
    for_each_index(device, param.numel(), step);
  }
#else
  void run(Device&) override {
    int64_t numel = param.numel();
    if (ring.data() != ring_out.data()) std::copy_n(ring.data(), ring.numel(), ring_out.data());
    if (weight[0] == 0) return;
    if (checks) require_finite(param.data(), 0, numel);
    // Until there is a first update the first place holds the parameter as it is.
    int64_t place = std::max<int64_t>(counters[kUpdates] - 1, 0) % ring.shape()[0];
    std::copy_n(param.data(), numel, ring_out.data() + place * numel);
  }
#endif
};

void infer_parameter_ring(InferContext& c) {
  require_ring(c);
  require_vector(c, "Counters", DType::Int64, kAverageCounters);
  require_number(c, "Weight");
  require_scalar(c, "Weight");
  c.set_output("RingOut", c.input("Ring"));
}

}  // namespace

void define_parameter_ring(OpTable& ops) {
  ops.add(OpSpec("parameter_ring")
              .doc("RingOut = Ring with Param in the place of update number u, (u - 1) modulo k, unless Weight is 0: "
                   "the k latest parameters (Kaddour 2022), of which ring_mean is the mean.")
              .input("Param", "any shape")
              .input("Ring", "[k, shape of Param]")
              .input("Counters", "[5] int64, of average_weight, this step counted")
              .input("Weight", "one element, of average_weight: 0 where nothing is kept in this step")
              .output("RingOut", "the variable of Ring")
              .attr("check_finite", false, "whether NaN and infinity in Param are refused")
              .infer(infer_parameter_ring)
              .no_gradient("keeps parameters")
              .updates("Ring", "RingOut")
              .on_gpu()
              .kernels<ParameterRingKernel, float, double>());
}

}  // namespace paddle_mini
