// CPU kernels of allclose.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void AllcloseKernel<T>::run(KernelContext&) {
  if (rtol_in) rtol = rtol_in[0];
  if (atol_in) atol = atol_in[0];
  IsClose<T> is_close{rtol, atol, equal_nan};
  bool close = true;
  for (int64_t i = 0, n = input.numel(); close && i < n; ++i) close = is_close(input[i], other[i]);
  out[0] = close;
}

}  // namespace
}  // namespace paddle_mini
