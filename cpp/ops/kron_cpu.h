// CPU kernels of kron.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void KronKernel<T>::run(KernelContext& context) {
  over_x.copy(context, x.data(), out.data(), T(0));
  int64_t block = over_y.block();
  over_y.each_block([&](int64_t to, int64_t from) {
    for (int64_t i = 0; i < block; ++i) out[to + i] = WrappingTimes()(out[to + i], y[from + i]);
  });
}

}  // namespace
}  // namespace paddle_mini
