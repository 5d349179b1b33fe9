// The kernels of sigmoid_cross_entropy_with_logits on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
ScalarArg<T> Scale<T>::of(KernelContext&, const Ignored<T>& ignored, const In<T>& label) const {
  int64_t count = 0;
  for (int64_t i = 0, n = normalize_ ? label.numel() : 0; i < n; ++i) count += ignored.counts(label[i]);
  return normalize_ ? one_by<T>(count) : T(1);
}

}  // namespace
}  // namespace paddle_mini
