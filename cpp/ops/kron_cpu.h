// CPU kernels of kron.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void KronKernel<T>::run(KernelContext& context) {
  over_x.copy(context, x.data(), out.data(), T(0));
  over_y.each_block(context, false, bytes_cost(3 * sizeof(T)),
                    [&](int64_t to, int64_t from, int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) out[to + i] = WrappingTimes()(out[to + i], y[from + i]);
                    });
}

}  // namespace
}  // namespace paddle_mini
