// The loops around the blocks of bfloat16_block.h and bfloat16_tiles.h. A block of B stays in the L2 cache while the rows of
// A pass by; sums of long k are kept in float32 between its segments.
#pragma once

#include "core/per_thread.h"
#include "core/tiles.h"
#include "math/cpu/bfloat16_block.h"
#include "math/cpu/bfloat16_tiles.h"
#include "math/cpu/product_tiles.h"

namespace paddle_mini {
namespace bfloat16_block {

inline int64_t panels_of(int64_t columns) { return (columns + kWidth - 1) / kWidth; }

// A segment of k; it begins at a multiple of Blocks::kUnit.
struct Segment {
  int64_t from, depth;
  bool is_first, is_last;
};

// Where a panel's sums of the rows from i on go.
template <class C>
struct Target {
  C* c;
  int64_t ldc, columns;
};

// C = alpha A B + beta C, whose operands have these members:
//   k, alpha, beta, and Result, the element type of C;
//   pack_row_block<Blocks>(segment, i, count, pairs, to), which packs rows of A for Blocks;
//   panels(segment, left, right, pairs, scratch), which packs columns of B into panels, or has them packed;
//   target(i, j), the Target of row i and the panel at column j.
template <class Blocks>
struct Loops {
  static constexpr int64_t kSegment = Blocks::kDepth / 2;  // pairs

  struct Workspace {
    alignas(64) uint32_t b[Blocks::kBlock];
    alignas(64) uint32_t a[Blocks::kTogether / Blocks::kRows * Blocks::packed_rows(kSegment)];
    alignas(64) float sums[Blocks::kTall * Blocks::kBlock / kSegment];
  };

  // Padded with zeros.
  static int64_t pairs_of(int64_t depth) { return (depth + Blocks::kUnit - 1) / Blocks::kUnit * (Blocks::kUnit / 2); }

  // Calls f for each segment; once, with a depth of 0, if k is 0.
  template <class F>
  static void each_segment(int64_t k, F f) {
    const int64_t count = std::max<int64_t>((k + Blocks::kDepth - 1) / Blocks::kDepth, 1);
    auto cut = [&](int64_t s) { return s == count ? k : 2 * pairs_of(k * s / count); };
    for (int64_t s = 0; s < count; ++s) f(Segment{cut(s), cut(s + 1) - cut(s), s == 0, s + 1 == count});
  }

  // Panels of a block of B, such that all blocks have about the same width.
  static int64_t panels_of_block(int64_t panels, int64_t k) {
    const int64_t pairs = std::max<int64_t>(pairs_of(std::min(k, Blocks::kDepth)), 1);
    const int64_t most = Blocks::kBlock / kWidth / pairs;
    const int64_t count = std::max<int64_t>((panels + most - 1) / most, 1);
    return std::max<int64_t>((panels + count - 1) / count, 1);
  }

  template <class Operands>
  static void run_tile(const Operands& operands, const Tile& tile) {
    [[maybe_unused]] const Blocks registers;
    Workspace& w = per_thread<Workspace>();
    const int64_t wide = panels_of_block(panels_of(tile.right - tile.left), operands.k) * kWidth;
    for (int64_t left = tile.left; left < tile.right; left += wide) {
      const int64_t right = std::min(tile.right, left + wide);
      const uint32_t* panels = nullptr;
      for (int64_t high = tile.top; high < tile.bottom; high += Blocks::kTall) {
        const int64_t low = std::min(tile.bottom, high + Blocks::kTall);
        each_segment(operands.k, [&](const Segment& s) {
          const bool is_packed = high > tile.top && s.is_first && s.is_last;  // for the rows above
          if (!is_packed) panels = operands.panels(s, left, right, pairs_of(s.depth), w.b);
          for (int64_t top = high; top < low; top += Blocks::kTogether) {
            const Tile rows{top, std::min(low, top + Blocks::kTogether), left, right};
            run_rows(operands, s, rows, panels, w.sums + (top - high) * wide, wide);
          }
        });
      }
    }
  }

  // The expected time of a product.
  static double time_of(int64_t m, int64_t n, int64_t k) {
    const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const double elements = static_cast<double>(m + n) * static_cast<double>(k);
    return flops_cost(products / Blocks::kSpeed) + bytes_cost(2 * elements);
  }

  static ProductTiles tiles_of(int64_t m, int64_t n, int64_t high = 1, int64_t wide = 1) {
    return {m, n, Blocks::kRows, kWidth, high, wide};
  }

 private:
  template <class Operands>
  static void run_rows(const Operands& operands, const Segment& s, const Tile& tile, const uint32_t* panels,
                       float* sums, int64_t step) {
    const int64_t pairs = pairs_of(s.depth);
    uint32_t* rows = per_thread<Workspace>().a;
    auto count = [&](int64_t i) { return std::min<int64_t>(Blocks::kRows, tile.bottom - i); };
    for (int64_t i = tile.top; i < tile.bottom; i += Blocks::kRows, rows += Blocks::packed_rows(pairs))
      operands.template pack_row_block<Blocks>(s, i, count(i), pairs, rows);
    rows = per_thread<Workspace>().a;
    for (int64_t i = tile.top; i < tile.bottom; i += Blocks::kRows, rows += Blocks::packed_rows(pairs)) {
      const uint32_t* panel = panels;
      for (int64_t j = tile.left; j < tile.right; j += kWidth, panel += pairs * kWidth) {
        const auto target = operands.target(i, j);
        float* partial = sums + (i - tile.top) * step + j - tile.left;
        const Sums<typename Operands::Result> to{target.c,    target.ldc, partial,        step,
                                                 !s.is_first, s.is_last,  operands.alpha, operands.beta};
        Blocks::multiply(count(i), pairs, rows, panel, target.columns, to);
      }
    }
  }
};

// Calls f with the loops for the instructions that this process uses.
template <class F>
auto with_loops(F f) {
  return may_use_tiles() ? f(Loops<Tiles>()) : f(Loops<Pairs>());
}

}  // namespace bfloat16_block
}  // namespace paddle_mini
