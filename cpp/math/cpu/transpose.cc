// Transposition on a CPU. Adjacent axes that stay adjacent are merged; if the last axis moves, small square tiles are
// transposed, so that both reads and writes stay in cache.
#include "math/transpose.h"

#include <algorithm>

namespace paddle_mini {

template <class F>
void Transpose::each_outer(F f) const {
  int64_t count = 1;
  for (const Dim& dim : outer_) count *= dim.size;
  int64_t index[Shape::kMaxRank] = {};
  int64_t in = 0, out = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(in, out);
    for (int d = static_cast<int>(outer_.size()) - 1; d >= 0; --d) {
      in += outer_[d].in_step;
      out += outer_[d].out_step;
      if (++index[d] < outer_[d].size) break;
      in -= outer_[d].in_step * outer_[d].size;
      out -= outer_[d].out_step * outer_[d].size;
      index[d] = 0;
    }
  }
}

template <class T>
void Transpose::run_as(KernelContext&, const T* in, T* out) const {
  if (last_stays_) {
    each_outer([&](int64_t from, int64_t to) { std::copy_n(in + from, along_out_.size, out + to); });
    return;
  }
  constexpr int64_t tile = 128 / sizeof(T) < 16 ? 16 : 128 / sizeof(T);  // two cache lines
  int64_t rows = along_in_.size, columns = along_out_.size, in_step = along_out_.in_step, out_step = along_in_.out_step;
  each_outer([&](int64_t from, int64_t to) {
    for (int64_t i0 = 0; i0 < rows; i0 += tile) {
      int64_t i1 = std::min(i0 + tile, rows);
      for (int64_t j0 = 0; j0 < columns; j0 += tile) {
        int64_t j1 = std::min(j0 + tile, columns);
        for (int64_t i = i0; i < i1; ++i) {
          const T* source = in + from + i;
          T* target = out + to + i * out_step;
          for (int64_t j = j0; j < j1; ++j) target[j] = source[j * in_step];
        }
      }
    }
  });
}

void Transpose::run(KernelContext& context, const void* in, void* out) const {
  if (numel_ == 0) return;
  auto as = [&](auto element) {
    using T = decltype(element);
    run_as(context, static_cast<const T*>(in), static_cast<T*>(out));
  };
  switch (element_bytes_) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    default: return as(uint64_t{});
  }
}

}  // namespace paddle_mini
