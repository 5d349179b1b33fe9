// Transposition on a CPU. Adjacent axes that stay adjacent are merged; if the last axis moves, small square tiles are
// transposed, so that both reads and writes stay in cache.
#include "math/transpose.h"

#include <algorithm>

#include "math/complex.h"
#include "math/copy.h"
#include "math/cpu/each_row.h"

namespace paddle_mini {

template <class T>
void Transpose::run_as(KernelContext& context, const T* in, T* out) const {
  const int64_t count = count_rows(outer_);
  if (last_stays_) {
    const int64_t width = along_out_.size;
    parallel_rows(context, count, bytes_cost(2.0 * sizeof(T)) * static_cast<double>(width),
                  [&](int64_t begin, int64_t end) {
                    each_row(outer_, {}, begin, end,
                             [&](int64_t, const auto& at) { copy_n(context, in + at[0], width, out + at[1]); });
                  });
    return;
  }
  constexpr int64_t tile = 128 / sizeof(T) < 16 ? 16 : 128 / sizeof(T);  // two cache lines
  const int64_t rows = along_in_.size, columns = along_out_.size, bands = (rows + tile - 1) / tile;
  const int64_t in_step = along_out_.in_step, out_step = along_in_.out_step;
  auto transpose_band = [&](const T* from, T* to, int64_t i0) {
    for (int64_t j0 = 0; j0 < columns; j0 += tile) {
      int64_t j1 = std::min(j0 + tile, columns);
      for (int64_t i = i0; i < std::min(i0 + tile, rows); ++i) {
        for (int64_t j = j0; j < j1; ++j) to[i * out_step + j] = from[i + j * in_step];
      }
    }
  };
  const double cost = bytes_cost(4.0 * sizeof(T)) * static_cast<double>(tile * columns);
  parallel_for(context, {count * bands, cost}, [&](int64_t begin, int64_t end) {
    int64_t band = begin;
    each_row(outer_, {}, begin / bands, (end + bands - 1) / bands, [&](int64_t row, const auto& at) {
      for (; band < std::min((row + 1) * bands, end); ++band) {
        transpose_band(in + at[0], out + at[1], (band - row * bands) * tile);
      }
    });
  });
}

template void Transpose::run_as(KernelContext&, const uint8_t*, uint8_t*) const;
template void Transpose::run_as(KernelContext&, const uint16_t*, uint16_t*) const;
template void Transpose::run_as(KernelContext&, const uint32_t*, uint32_t*) const;
template void Transpose::run_as(KernelContext&, const uint64_t*, uint64_t*) const;
template void Transpose::run_as(KernelContext&, const Complex<double>*, Complex<double>*) const;

}  // namespace paddle_mini
