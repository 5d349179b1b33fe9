// The kernels of update_loss_scaling on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct SelectZero {
  bool zero;
  PM_HD T operator()(T x) const { return zero ? T(0) : x; }
};
template <class T>
struct ZeroIf {
  static constexpr bool batchable = true;
  ScalarArg<bool> zero;
  PM_HD SelectZero<T> bind_scalars() const { return {zero()}; }
};

template <class T>
void UpdateLossScalingKernel<T>::clear(KernelContext& context) {
  for (size_t i = 0; i < xs.size(); ++i) {
    map(context, xs[i].numel(), ZeroIf<T>{found}, outs[i].data(), xs[i].data());
  }
}

}  // namespace
}  // namespace paddle_mini
