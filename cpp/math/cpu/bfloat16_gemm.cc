// BFloat16Gemm: the operands of a product of matrices of bfloat16.
#include "math/gemm.h"

#if defined(__AVX512BW__)

#include "math/cpu/bfloat16_loops.h"
#include "math/cpu/packed_input.h"

namespace paddle_mini {
namespace {

using namespace bfloat16_block;
using Sizes = GemmSizes<BFloat16>;

// Packs the columns [left, right) of a segment of op(B) into panels.
void pack_panels(const Sizes& g, const BFloat16* b, const Segment& s, int64_t left, int64_t right, int64_t pairs,
                 uint32_t* to) {
  constexpr int64_t kChunk = 16;  // pairs, so that rows of B are read one after another
  for (int64_t l = 0; l < pairs && !g.transpose_b; l += kChunk) {
    const BFloat16* from = b + (s.from + 2 * l) * g.ldb;
    for (int64_t j = left; j < right; j += kWidth) {
      pack_across(from + j, g.ldb, right - j, s.depth - 2 * l, std::min(kChunk, pairs - l),
                  to + (j - left) * pairs + l * kWidth);
    }
  }
  for (int64_t j = left; j < right && g.transpose_b; j += kWidth, to += pairs * kWidth) {
    const BFloat16* from = b + j * g.ldb + s.from;
    pack_along(from, g.ldb, right - j, s.depth, pairs, to, kWidth);
    pack_along(from + kLines * g.ldb, g.ldb, right - j - kLines, s.depth, pairs, to + kLines, kWidth);
  }
}

// Strides are not 0. `packed`: for each segment of k the panels of all columns of op(B), or nullptr.
template <class C>
struct Matrices {
  using Result = C;

  const Sizes& g;
  const BFloat16 *a, *b;
  const uint32_t* packed;
  C* c;
  int64_t k = g.k;
  float alpha = g.alpha, beta = g.beta;

  template <class Blocks>
  void pack_row_block(const Segment& s, int64_t i, int64_t count, int64_t pairs, uint32_t* to) const {
    const BFloat16* from = g.transpose_a ? a + s.from * g.lda + i : a + i * g.lda + s.from;
    Blocks::pack_rows(from, g.lda, g.transpose_a, count, s.depth, pairs, to);
  }

  const uint32_t* panels(const Segment& s, int64_t left, int64_t right, int64_t pairs, uint32_t* scratch) const {
    if (packed) return packed + s.from / 2 * panels_of(g.n) * kWidth + left * pairs;
    pack_panels(g, b, s, left, right, pairs, scratch);
    return scratch;
  }

  Target<C> target(int64_t i, int64_t j) const { return {c + i * g.ldc + j, g.ldc, std::min(kWidth, g.n - j)}; }
};

template <class Blocks>
void pack_all(KernelContext& context, Loops<Blocks> loops, const Sizes& g, const BFloat16* b, uint32_t* to) {
  const int64_t panels = panels_of(g.n);
  loops.each_segment(g.k, [&](const Segment& s) {
    uint32_t* segment = to + s.from / 2 * panels * kWidth;
    const int64_t pairs = loops.pairs_of(s.depth);
    const double cost = bytes_cost(4) * static_cast<double>(s.depth * kWidth);
    parallel_for(context, {panels, cost}, [&](int64_t begin, int64_t end) {
      const int64_t left = begin * kWidth;
      pack_panels(g, b, s, left, std::min(end * kWidth, g.n), pairs, segment + left * pairs);
    });
  });
}

}  // namespace

template <class C>
BFloat16Gemm<C>::BFloat16Gemm(const Sizes& sizes, int threads) : sizes_(sizes) {
  Sizes& g = sizes_;
  if (!g.lda) g.lda = g.transpose_a ? g.m : g.k;
  if (!g.ldb) g.ldb = g.transpose_b ? g.k : g.n;
  if (!g.ldc) g.ldc = g.n;
  with_loops([&](auto loops) {
    ProductTiles tiles = loops.tiles_of(g.m, g.n);
    tiles.split(threads, loops.time_of(g.m, g.n, g.k), g.m);
    high_ = tiles.high, wide_ = tiles.wide;
  });
}

template <class C>
BFloat16Gemm<C>::BFloat16Gemm(const Sizes& sizes, const KernelInit& init, const char* port, size_t i)
    : BFloat16Gemm(sizes, init.threads()) {
  const Sizes& g = sizes_;
  const int64_t pairs = with_loops([&](auto loops) { return loops.pairs_of(g.k); }) * panels_of(g.n) * kWidth;
  if (pairs == 0) return;
  packed_b_ = init.packed(port, "panels of pairs", {g.k, g.n, g.ldb, g.transpose_b},
                          static_cast<size_t>(pairs) * sizeof(uint32_t), i);
}

template <class C>
void BFloat16Gemm<C>::run(KernelContext& context, const BFloat16* a, const BFloat16* b, C* c) const {
  const Sizes& g = sizes_;
  with_loops([&](auto loops) {
    const uint32_t* all = nullptr;
    if (packed_b_)
      all = packed<uint32_t>(*packed_b_, context, [&](uint32_t* to) { pack_all(context, loops, g, b, to); });
    const Matrices<C> matrices{g, a, b, all, c};
    loops.tiles_of(g.m, g.n, high_, wide_).run(context, loops.time_of(g.m, g.n, g.k), [&](const Tile& tile) {
      loops.run_tile(matrices, tile);
    });
  });
}

template <class C>
void BFloat16Gemm<C>::run_many(KernelContext& context, int64_t count, const BFloat16* a, int64_t step_a,
                               const BFloat16* b, int64_t step_b, C* c, int64_t step_c) const {
  const Sizes& g = sizes_;
  const double time = with_loops([&](auto loops) { return loops.time_of(g.m, g.n, g.k); });
  run_batch(context, count, time, [&](int64_t i) { run(context, a + i * step_a, b + i * step_b, c + i * step_c); });
}

template class BFloat16Gemm<BFloat16>;
template class BFloat16Gemm<float>;

}  // namespace paddle_mini

#endif
