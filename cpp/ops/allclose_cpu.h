// CPU kernels of allclose.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void AllcloseKernel<T>::run(KernelContext&) {
  IsClose<T> is_close{this->rtol_in ? this->rtol_in[0] : this->rtol, this->atol_in ? this->atol_in[0] : this->atol,
                      this->equal_nan};
  bool close = true;
  for (int64_t i = 0, n = this->input.numel(); close && i < n; ++i) close = is_close(this->input[i], this->other[i]);
  out[0] = close;
}

}  // namespace
}  // namespace paddle_mini
