// BFloat16Gemm: the loops around the blocks of bfloat16_block.h. A block of B stays in the L2 cache while the rows of A
// pass by; sums of long k are kept in float32 between its segments.
#include "math/gemm.h"

#if defined(__AVX512BW__)

#include "math/cpu/bfloat16_block.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/product_tiles.h"

namespace paddle_mini {
namespace {

using bfloat16_block::kLines;
using bfloat16_block::kRows;
using bfloat16_block::kWidth;
using Sizes = GemmSizes<BFloat16>;

constexpr int64_t kDepth = 1024;  // elements of a segment of k
constexpr int64_t kBlock = 1 << 17;  // pairs of a block of B: half of the L2 cache
constexpr int64_t kTogether = 8 * kRows;  // rows of A that are packed together, in full cache lines if A is transposed
constexpr int64_t kTall = 36 * kRows;  // rows whose sums are kept between segments

struct Workspace {
  alignas(64) uint32_t b[kBlock];
  alignas(64) uint32_t a[kTogether / kRows * kDepth / 2 * kLines];
  alignas(64) float sums[kTall * kBlock / (kDepth / 2)];
};

Workspace& workspace() {
  static thread_local std::unique_ptr<Workspace> here(new Workspace);
  return *here;
}

int64_t pairs_of(int64_t depth) { return (depth + 1) / 2; }
int64_t panels_of(int64_t columns) { return (columns + kWidth - 1) / kWidth; }

// A segment of k; it begins at an even element.
struct Segment {
  int64_t from, depth;
  bool is_first, is_last;
};

// Calls f for each segment; once, with a depth of 0, if k is 0.
template <class F>
void each_segment(int64_t k, F f) {
  const int64_t count = std::max<int64_t>((k + kDepth - 1) / kDepth, 1);
  auto cut = [&](int64_t s) { return s == count ? k : (k * s / count + 1) / 2 * 2; };
  for (int64_t s = 0; s < count; ++s) f(Segment{cut(s), cut(s + 1) - cut(s), s == 0, s + 1 == count});
}

// Panels of a block of B, such that all blocks have about the same width.
int64_t panels_of_block(int64_t panels, int64_t k) {
  const int64_t most = kBlock / kWidth / std::max<int64_t>(pairs_of(std::min(k, kDepth)), 1);
  const int64_t count = std::max<int64_t>((panels + most - 1) / most, 1);
  return std::max<int64_t>((panels + count - 1) / count, 1);
}

void pack(const BFloat16* from, int64_t ld, bool along, int64_t count, int64_t depth, uint32_t* to, int64_t step) {
  if (along) bfloat16_block::pack_along(from, ld, count, depth, to, step);
  else bfloat16_block::pack_across(from, ld, count, depth, to, step);
}

// Packs the columns [left, right) of a segment of op(B) into panels.
void pack_panels(const Sizes& g, const BFloat16* b, const Segment& s, int64_t left, int64_t right, uint32_t* to) {
  const bool along = g.transpose_b;
  for (int64_t j = left; j < right; j += kLines) {
    const int64_t part = (j - left) % kWidth;  // half of a panel
    uint32_t* panel = to + (j - left - part) * pairs_of(s.depth) + part;
    pack(along ? b + j * g.ldb + s.from : b + s.from * g.ldb + j, g.ldb, along, std::min(kLines, right - j), s.depth,
         panel, kWidth);
    if (part == 0 && j + kLines >= right) {
      for (int64_t l = 0; l < pairs_of(s.depth); ++l) std::fill_n(panel + l * kWidth + kLines, kLines, 0);
    }
  }
}

// Packs rows of a segment of op(A) into blocks.
void pack_rows(const Sizes& g, const BFloat16* a, const Segment& s, int64_t top, int64_t bottom, uint32_t* to) {
  const bool along = !g.transpose_a;
  for (int64_t i = top; i < bottom; i += kRows, to += pairs_of(s.depth) * kLines) {
    pack(along ? a + i * g.lda + s.from : a + s.from * g.lda + i, g.lda, along, std::min<int64_t>(kRows, bottom - i),
         s.depth, to, kLines);
  }
}

// All of op(B), packed: for each segment its panels.
struct PackedB {
  const uint32_t* all;  // nullptr: B is not packed
  int64_t panels;  // panels of all columns

  const uint32_t* at(const Segment& s, int64_t left) const {
    return all + s.from / 2 * panels * kWidth + left * pairs_of(s.depth);
  }
};

void pack_all(KernelContext& context, const Sizes& g, const BFloat16* b, uint32_t* to) {
  const int64_t panels = panels_of(g.n);
  each_segment(g.k, [&](const Segment& s) {
    uint32_t* segment = to + s.from / 2 * panels * kWidth;
    const double cost = bytes_cost(4) * static_cast<double>(s.depth * kWidth);
    parallel_for(context, {panels, cost}, [&](int64_t begin, int64_t end) {
      const int64_t left = begin * kWidth;
      pack_panels(g, b, s, left, std::min(end * kWidth, g.n), segment + left * pairs_of(s.depth));
    });
  });
}

// One tile of C, with strides that are not 0.
template <class C>
void run_tile(const Sizes& g, const Tile& tile, const BFloat16* a, const BFloat16* b, const PackedB& packed, C* c) {
  Workspace& w = workspace();
  const int64_t wide = panels_of_block(panels_of(tile.right - tile.left), g.k) * kWidth;
  for (int64_t left = tile.left; left < tile.right; left += wide) {
    const int64_t right = std::min(tile.right, left + wide);
    for (int64_t high = tile.top; high < tile.bottom; high += kTall) {
      const int64_t low = std::min(tile.bottom, high + kTall);
      each_segment(g.k, [&](const Segment& s) {
        const int64_t pairs = pairs_of(s.depth);
        const bool is_packed = high > tile.top && s.is_first && s.is_last;  // for the rows above
        if (!packed.all && !is_packed) pack_panels(g, b, s, left, right, w.b);
        for (int64_t top = high; top < low; top += kTogether) {
          const int64_t bottom = std::min(low, top + kTogether);
          pack_rows(g, a, s, top, bottom, w.a);
          const uint32_t* rows = w.a;
          for (int64_t i = top; i < bottom; i += kRows, rows += pairs * kLines) {
            const uint32_t* panel = packed.all ? packed.at(s, left) : w.b;
            for (int64_t j = left; j < right; j += kWidth, panel += pairs * kWidth) {
              bfloat16_block::multiply_rows<kRows, C>(std::min<int64_t>(kRows, bottom - i), pairs, rows, panel,
                                                      std::min(kWidth, right - j),
                                                      {c + i * g.ldc + j, g.ldc, w.sums + (i - high) * wide + j - left,
                                                       wide, !s.is_first, s.is_last, g.alpha, g.beta});
            }
          }
        }
      });
    }
  }
}

double time_of(const Sizes& g) {
  return flops_cost(static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k));
}

ProductTiles tiles_of(const Sizes& g, int64_t high = 1, int64_t wide = 1) {
  return {g.m, g.n, kRows, kWidth, high, wide};
}

}  // namespace

template <class C>
BFloat16Gemm<C>::BFloat16Gemm(const Sizes& sizes, int threads) : sizes_(sizes) {
  Sizes& g = sizes_;
  if (!g.lda) g.lda = g.transpose_a ? g.m : g.k;
  if (!g.ldb) g.ldb = g.transpose_b ? g.k : g.n;
  if (!g.ldc) g.ldc = g.n;
  ProductTiles tiles = tiles_of(g);
  tiles.split(threads, time_of(g), g.m);
  high_ = tiles.high, wide_ = tiles.wide;
}

template <class C>
BFloat16Gemm<C>::BFloat16Gemm(const Sizes& sizes, const KernelInit& init, const char* port, size_t i)
    : BFloat16Gemm(sizes, init.threads()) {
  const Sizes& g = sizes_;
  const auto pairs = static_cast<size_t>(pairs_of(g.k) * panels_of(g.n) * kWidth);
  if (pairs == 0) return;
  packed_b_ = init.packed(port, "panels of pairs", {g.k, g.n, g.ldb, g.transpose_b}, pairs * sizeof(uint32_t), i);
}

template <class C>
void BFloat16Gemm<C>::run(KernelContext& context, const BFloat16* a, const BFloat16* b, C* c) const {
  PackedB all{nullptr, panels_of(sizes_.n)};
  if (packed_b_)
    all.all = packed<uint32_t>(*packed_b_, context, [&](uint32_t* to) { pack_all(context, sizes_, b, to); });
  tiles_of(sizes_, high_, wide_).run(context, time_of(sizes_), [&](const Tile& tile) {
    run_tile(sizes_, tile, a, b, all, c);
  });
}

template <class C>
void BFloat16Gemm<C>::run_many(KernelContext& context, int64_t count, const BFloat16* a, int64_t step_a,
                               const BFloat16* b, int64_t step_b, C* c, int64_t step_c) const {
  run_batch(context, count, time_of(sizes_),
            [&](int64_t i) { run(context, a + i * step_a, b + i * step_b, c + i * step_c); });
}

template class BFloat16Gemm<BFloat16>;
template class BFloat16Gemm<float>;

}  // namespace paddle_mini

#endif
