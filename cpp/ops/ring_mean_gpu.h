// The kernels of ring_mean on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct MeanOfRing {
  const T *param, *ring;
  ScalarArg<int64_t> updates;
  T* out;
  int64_t numel, places;

  PM_HD void operator()(int64_t at) const {
    int64_t u = updates(), count = u < places ? u : places;
    T mean = count == 0 ? param[at] : ring[at];
    for (int64_t i = 1; i < count; ++i) mean = mean + T(1) / static_cast<T>(i + 1) * (ring[i * numel + at] - mean);
    out[at] = mean;
  }
};

template <class T>
void RingMeanKernel<T>::run(KernelContext& context) {
  MeanOfRing<T> mean{param.data(), ring.data(), ScalarArg<int64_t>(counters, kUpdates),
                     out.data(),   out.numel(), ring.shape()[0]};
  for_each_index(context, out.numel(), mean);
}

}  // namespace
}  // namespace paddle_mini
