// Convolution of images of bfloat16: the operands of its products.
#include "math/convolution.h"

#if defined(__AVX512BW__)

#include "math/cast.h"
#include "math/cpu/bfloat16_loops.h"
#include "math/cpu/bfloat16_patches.h"

namespace paddle_mini {
namespace {

using namespace bfloat16_block;
using Product = Loops<Tiles>;

constexpr int64_t kChunk = PatchRows::kWindows;  // windows whose patches are packed together
constexpr int64_t kLeastRows = 8;  // with fewer rows, tiles are mostly padding

int64_t chunks_of(int64_t windows) { return (windows + kChunk - 1) / kChunk; }

// Chunks of the windows of all images; those of an image are padded.
struct Chunk {
  int64_t image, first;

  Chunk(int64_t column, int64_t windows)
      : image(column / (chunks_of(windows) * kChunk)), first(column % (chunks_of(windows) * kChunk)) {}
};

// results [images, rows, windows] = filters [rows, taps of all channels] patches
struct PatchesByFilters {
  using Result = BFloat16;

  const BFloat16* filters;
  int64_t filter_step;  // between rows, or between taps if `across`
  bool across;
  const PatchRows& patches;
  const BFloat16* images;
  int64_t image_step;
  BFloat16* results;
  int64_t result_step;
  int64_t k;
  float alpha = 1, beta = 0;

  template <class Blocks>
  void pack_row_block(const Segment& s, int64_t i, int64_t count, int64_t pairs, uint32_t* to) const {
    const BFloat16* from = across ? filters + s.from * filter_step + i : filters + i * filter_step + s.from;
    Blocks::pack_rows(from, filter_step, across, count, s.depth, pairs, to);
  }

  const uint32_t* panels(const Segment& s, int64_t left, int64_t right, int64_t pairs, uint32_t* scratch) const {
    PatchRows rows = patches;
    for (int64_t j = left; j < right; j += kChunk) {
      const Chunk chunk(j, rows.windows());
      rows.find(chunk.first);
      const BFloat16* image = images + chunk.image * image_step;
      rows.with_kind([&](auto wide, auto sparse) {
        pack_panel<wide, sparse>(rows, image, s, pairs, scratch + (j - left) * pairs);
      });
    }
    return scratch;
  }

  Target<BFloat16> target(int64_t i, int64_t j) const {
    const int64_t windows = patches.windows();
    const Chunk chunk(j, windows);
    return {results + chunk.image * result_step + i * windows + chunk.first, windows,
            std::min(kChunk, windows - chunk.first)};
  }

 private:
  template <bool wide, bool sparse>
  PM_SPREADS static void pack_panel(const PatchRows& rows, const BFloat16* image, const Segment& s, int64_t pairs,
                                    uint32_t* to) {
    const int64_t taps = rows.taps(), plane = rows.plane();
    int64_t tap = s.from % taps, left = s.depth;
    image += s.from / taps * plane;
    auto next = [&]() PM_SPREADS {
      if (left-- <= 0) return _mm512_setzero_si512();
      const __m512i row = rows.load<wide, sparse>(image, tap);
      if (++tap == taps) tap = 0, image += plane;
      return row;
    };
    for (int64_t l = 0; l < pairs; ++l, to += kWidth) {
      const __m512i even = next(), odd = next();
      store_pairs(even, odd, to);
    }
  }
};

// filters [rows, taps of all channels] = sum over images: results [rows, windows] patches'
struct PatchesByResults {
  using Result = BFloat16;

  const BFloat16* results;
  int64_t result_step;
  const PatchRows& patches;
  const BFloat16* images;
  int64_t image_step;
  BFloat16* filters;
  int64_t taps;  // elements of a filter
  int64_t k;  // all chunks' windows
  float alpha = 1, beta = 0;

  template <class Blocks>
  void pack_row_block(const Segment& s, int64_t i, int64_t count, int64_t, uint32_t* to) const {
    const int64_t windows = patches.windows();
    for (int64_t l = 0; l < s.depth; l += kChunk, to += Blocks::packed_rows(kChunk / 2)) {
      const Chunk chunk(s.from + l, windows);
      Blocks::pack_rows(results + chunk.image * result_step + i * windows + chunk.first, windows, false, count,
                        windows - chunk.first, kChunk / 2, to);
    }
  }

  const uint32_t* panels(const Segment& s, int64_t left, int64_t right, int64_t pairs, uint32_t* scratch) const {
    PatchRows rows = patches;
    for (int64_t l = 0; l < s.depth; l += kChunk) {
      const Chunk chunk(s.from + l, rows.windows());
      rows.find(chunk.first);
      const BFloat16* image = images + chunk.image * image_step;
      rows.with_kind([&](auto wide, auto sparse) {
        pack_chunk<wide, sparse>(rows, image, left, right, pairs * kWidth, scratch + l / 2 * kWidth);
      });
    }
    return scratch;
  }

  Target<BFloat16> target(int64_t i, int64_t j) const {
    return {filters + i * taps + j, taps, std::min(kWidth, taps - j)};
  }

 private:
  // Packs the taps [left, right) of a chunk into panels, which are panel_step apart.
  template <bool wide, bool sparse>
  PM_SPREADS void pack_chunk(const PatchRows& rows, const BFloat16* image, int64_t left, int64_t right,
                             int64_t panel_step, uint32_t* to) const {
    const int64_t window = rows.taps(), plane = rows.plane();
    int64_t tap = left % window;
    image += left / window * plane;
    for (int64_t j = left; j < right; j += kWidth, to += panel_step) {
      for (int64_t half = 0; half < kWidth; half += kLines) {
        Registers block;
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLines; ++i) {
          __m512i row = _mm512_setzero_si512();
          if (j + half + i < right) {
            row = rows.load<wide, sparse>(image, tap);
            if (++tap == window) tap = 0, image += plane;
          }
          block.packet[i] = _mm512_castsi512_ps(row);
        }
        Eigen::internal::ptranspose(block);
        for (int64_t i = 0; i < kLines; ++i) _mm512_storeu_ps(to + i * kWidth + half, block.packet[i]);
      }
    }
  }
};

template <class Operands>
void multiply(KernelContext& context, const Operands& operands, int64_t m, int64_t n) {
  ProductTiles tiles = Product::tiles_of(m, n);
  const double time = Product::time_of(m, n, operands.k);
  tiles.split(context.threads, time, m);
  tiles.run(context, time, [&](const Tile& tile) { Product::run_tile(operands, tile); });
}

void widen(KernelContext& context, const BFloat16* from, const Scratch<float>& to) {
  cast_function(DType::BFloat16, DType::Float32)(context, to.numel(), from, to.data());
}

void round(KernelContext& context, const Scratch<float>& from, BFloat16* to) {
  cast_function(DType::Float32, DType::BFloat16)(context, from.numel(), from.data(), to);
}

}  // namespace

Convolution<BFloat16>::Convolution(KernelInit& init, const ConvolutionSizes& sizes, const ConvolutionResults& results)
    : s_(sizes) {
  const bool fits = may_use_tiles() && PatchRows::fits(PatchRowsAxis::forward(s_.width));
  forward_ = fits && s_.out_channels >= kLeastRows;
  by_filter_ = fits && s_.out_channels >= kLeastRows;
  by_input_ = may_use_tiles() && s_.in_channels >= kLeastRows;
  const int64_t filter = s_.groups * s_.out_channels * s_.taps();
  const bool transposes = results.by_input && by_input_ && s_.height.window * s_.width.window > 1;
  if (transposes) filters_.emplace(init, filter);
  const ConvolutionResults others{results.output && !forward_, results.by_input && !by_input_,
                                  results.by_filter && !by_filter_};
  if (!others.output && !others.by_input && !others.by_filter) return;
  wide_.emplace(
      Wide{{init, s_, others}, {init, s_.images * s_.image_size()}, {init, filter}, {init, s_.images * s_.out_size()}});
}

void Convolution<BFloat16>::run(KernelContext& context, const BFloat16* image, const BFloat16* filter, BFloat16* out) {
  if (!forward_) {
    widen(context, image, wide_->image), widen(context, filter, wide_->filter);
    wide_->convolution.run(context, wide_->image.data(), wide_->filter.data(), wide_->out.data());
    return round(context, wide_->out, out);
  }
  const PatchRows patches(PatchRowsAxis::forward(s_.height), PatchRowsAxis::forward(s_.width));
  for (int64_t group = 0; group < s_.groups; ++group) {
    const PatchesByFilters operands{filter + group * s_.out_channels * s_.taps(),
                                    s_.taps(),
                                    false,
                                    patches,
                                    image + group * s_.in_channels * s_.plane(),
                                    s_.image_size(),
                                    out + group * s_.out_channels * s_.pixels(),
                                    s_.out_size(),
                                    s_.taps()};
    multiply(context, operands, s_.out_channels, s_.images * chunks_of(s_.pixels()) * kChunk);
  }
}

void Convolution<BFloat16>::input_gradient(KernelContext& context, const BFloat16* filter, const BFloat16* out_gradient,
                                           BFloat16* image_gradient) {
  if (!by_input_) {
    widen(context, filter, wide_->filter), widen(context, out_gradient, wide_->out);
    wide_->convolution.input_gradient(context, wide_->filter.data(), wide_->out.data(), wide_->image.data());
    return round(context, wide_->image, image_gradient);
  }
  const PatchRows patches(PatchRowsAxis::gradient(s_.height), PatchRowsAxis::gradient(s_.width));
  const int64_t window = patches.taps(), taps = s_.out_channels * window, size = s_.out_channels * s_.taps();
  if (filters_) {
    const LoopSize loop{s_.groups * s_.in_channels, bytes_cost(32) * static_cast<double>(s_.out_channels)};
    parallel_for(context, loop, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const BFloat16* from = filter + i / s_.in_channels * size + i % s_.in_channels * window;
        BFloat16* to = filters_->data() + i * taps;
        for (int64_t o = 0; o < s_.out_channels; ++o) std::copy_n(from + o * s_.taps(), window, to + o * window);
      }
    });
  }
  for (int64_t group = 0; group < s_.groups; ++group) {
    const PatchesByFilters operands{(filters_ ? filters_->data() : filter) + group * size,
                                    filters_ ? taps : s_.in_channels,
                                    !filters_,
                                    patches,
                                    out_gradient + group * s_.out_channels * s_.pixels(),
                                    s_.out_size(),
                                    image_gradient + group * s_.in_channels * s_.plane(),
                                    s_.image_size(),
                                    taps};
    multiply(context, operands, s_.in_channels, s_.images * chunks_of(s_.plane()) * kChunk);
  }
}

void Convolution<BFloat16>::filter_gradient(KernelContext& context, const BFloat16* image, const BFloat16* out_gradient,
                                            BFloat16* filter_gradient) {
  if (!by_filter_) {
    widen(context, image, wide_->image), widen(context, out_gradient, wide_->out);
    wide_->convolution.filter_gradient(context, wide_->image.data(), wide_->out.data(), wide_->filter.data());
    return round(context, wide_->filter, filter_gradient);
  }
  const PatchRows patches(PatchRowsAxis::forward(s_.height), PatchRowsAxis::forward(s_.width));
  for (int64_t group = 0; group < s_.groups; ++group) {
    const PatchesByResults operands{out_gradient + group * s_.out_channels * s_.pixels(),
                                    s_.out_size(),
                                    patches,
                                    image + group * s_.in_channels * s_.plane(),
                                    s_.image_size(),
                                    filter_gradient + group * s_.out_channels * s_.taps(),
                                    s_.taps(),
                                    s_.images * chunks_of(s_.pixels()) * kChunk};
    multiply(context, operands, s_.out_channels, s_.taps());
  }
}

}  // namespace paddle_mini

#endif
