// Axis index maps on a CPU, block by block.
#pragma once

#include <algorithm>

namespace paddle_mini {

template <class T>
void AxisLoop::copy(KernelContext&, const T* in, T* out, T outside) const {
  each_block([&](int64_t to, int64_t from) {
    if (from == kOutside) std::fill_n(out + to, block_, outside);
    else if (block_ == 1) out[to] = in[from];
    else std::copy_n(in + from, block_, out + to);
  });
}

template <class T>
void AxisLoop::add_back(KernelContext&, const T* out, T* source) const {
  std::fill_n(source, in_numel_, T(0));
  fold([](T total, T one) { return static_cast<T>(total + one); }, out, source);
}

template <class T>
void AxisLoop::put(KernelContext&, const T* out, T* source) const {
  each_block([&](int64_t to, int64_t from) { std::copy_n(out + to, block_, source + from); });
}

template <class T>
void AxisLoop::put_value(KernelContext&, T value, T* source) const {
  each_block([&](int64_t, int64_t from) { std::fill_n(source + from, block_, value); });
}

}  // namespace paddle_mini
