// ProductTiles: how a product is split among threads. Each tile of C is a product of its own, whose sums run over k in the
// same order as those of the whole, so all splits have the same result.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parallel.h"

namespace paddle_mini {

// The rows and columns of C that a part of a product computes.
struct Tile {
  int64_t top, bottom, left, right;
};

// high x wide tiles of C [m, n], whose borders are multiples of a block's `rows` and `columns`.
struct ProductTiles {
  int64_t m, n, rows, columns, high = 1, wide = 1;

  // A tile packs its columns of B, and rows of A as if these were `packed_rows` in all: of the splits into enough tiles,
  // this chooses the one that packs least. `time`: of the product, in nanoseconds on one core.
  void split(int threads, double time, int64_t packed_rows) {
    const int64_t wanted = ranges_of(least_loop(), threads, std::min<int64_t>(m * n, 2 * threads), time);
    const int64_t most_high = std::max<int64_t>(m / (4 * rows), 1),
                  most_wide = std::max<int64_t>(2 * n / (3 * columns), 1);
    const int64_t enough = std::min(wanted, most_high * most_wide);
    int64_t least = INT64_MAX;
    for (int64_t across = 1; across <= std::min(wanted, most_wide); ++across) {
      int64_t down = std::min((wanted + across - 1) / across, most_high);
      int64_t packed = down * n + across * packed_rows;
      if (down * across < enough || packed >= least) continue;
      least = packed, high = down, wide = across;
    }
  }

  template <class F>
  void run(KernelContext& context, double time, F run_tile) const {
    auto cut = [](int64_t size, int64_t unit, int64_t i, int64_t count) {
      return std::min((size + unit - 1) / unit * i / count * unit, size);
    };
    const LoopSize size{wide * high, time / static_cast<double>(wide * high)};
    parallel_for(context, size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t row = i / wide, column = i % wide;
        run_tile(Tile{cut(m, rows, row, high), cut(m, rows, row + 1, high), cut(n, columns, column, wide),
                      cut(n, columns, column + 1, wide)});
      }
    });
  }
};

// Calls run(i) for each product of a batch: on several threads if there are as many, else each splits itself.
template <class F>
void run_batch(KernelContext& context, int64_t count, double time, F run) {
  auto run_range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run(i);
  };
  if (count < context.threads) run_range(0, count);
  else parallel_for(context, {count, time}, run_range);
}

}  // namespace paddle_mini
