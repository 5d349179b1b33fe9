// The kernels of temporal_shift on a CPU.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

// Copies `from` to `to` with the shift described at Shift; `direction` is 1, or -1 for the gradient.
template <class T>
void Shift::copy(KernelContext& context, const T* from, T* to, int64_t direction) const {
  int64_t row = channels * length, frame = blocks * row;
  each_item(context, {frames, bytes_cost(2.0 * sizeof(T)) * static_cast<double>(frame)}, [&](int64_t f) {
    auto take = [&](int64_t first, int64_t end, int64_t shift) {
      int64_t time = f % segment + shift, count = (end - first) * length;
      bool there = time >= 0 && time < segment;
      for (int64_t b = 0; b < blocks; ++b) {
        int64_t at = f * frame + b * row + first * length;
        if (there) std::copy_n(from + at + shift * frame, count, to + at);
        else std::fill_n(to + at, count, T(0));
      }
    };
    take(0, back, -direction);
    take(back, ahead, direction);
    take(ahead, channels, 0);
  });
}

}  // namespace
}  // namespace paddle_mini
