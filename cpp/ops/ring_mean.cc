// ring_mean: the mean of the parameters that parameter_ring has kept
#include "math/average_state.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct MeanOfRing {
  const T *param, *ring;
  Uniform<int64_t> updates;
  T* out;
  int64_t numel, places;

  PM_HD void operator()(int64_t at) const {
    int64_t u = updates(), count = u < places ? u : places;
    T mean = count == 0 ? param[at] : ring[at];
    for (int64_t i = 1; i < count; ++i) mean = mean + T(1) / static_cast<T>(i + 1) * (ring[i * numel + at] - mean);
    out[at] = mean;
  }
};
#endif

template <class T>
struct RingMeanKernel : Kernel {
  In<T> param, ring;
  In<int64_t> counters;
  Out<T> out;

  explicit RingMeanKernel(KernelInit& init)
      : param(init, "Param"), ring(init, "Ring"), counters(init, "Counters"), out(init, "Out") {}

  // Summed anew each time, so nothing drifts; as a + (p - a) / n, so no number grows.
#ifdef PM_GPU
  void run(Device& device) override {
    MeanOfRing<T> mean{param.data(), ring.data(), Uniform<int64_t>(counters, kUpdates),
                       out.data(),   out.numel(), ring.shape()[0]};
    for_each_index(device, out.numel(), mean);
  }
#else
  void run(Device& device) override {
    int64_t numel = out.numel(), count = std::min(counters[kUpdates], ring.shape()[0]);
    if (count == 0) {
      if (param.data() != out.data()) std::copy_n(param.data(), numel, out.data());
      return;
    }
    std::copy_n(ring.data(), numel, out.data());
    for (int64_t i = 1; i < count; ++i) {
      T share = T(1) / static_cast<T>(i + 1);
      auto mean = [share](auto a, auto p) { return a + decltype(a)(share) * (p - a); };
      map(device, numel, mean, out.data(), static_cast<const T*>(out.data()), ring.data() + i * numel);
    }
  }
#endif
};

}  // namespace

void define_ring_mean(OpTable& ops) {
  ops.add(OpSpec("ring_mean")
              .doc("The mean of what parameter_ring has kept, of at most k parameters; before the first update, Param.")
              .input("Param", "any shape")
              .input("Ring", "[k, shape of Param]")
              .input("Counters", "[5] int64, of average_weight")
              .output("Out", "shape of Param")
              .infer([](InferContext& c) {
                require_ring(c);
                require_vector(c, "Counters", DType::Int64, kAverageCounters);
                c.set_output("Out", c.input("Param"));
              })
              .no_gradient("an average of parameters is not differentiated")
              .in_place("Param", "Out")
              .on_gpu()
              .kernels<RingMeanKernel, float, double>());
}

}  // namespace paddle_mini
