// ChannelPanels: the loops that multiply the pixels of a region with panels of filters.
#include "math/cpu/channel_panels.h"

#include "math/cpu/pixel_products.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// Stores the sums [registers, pixels] of `channels` channels from the one of that number on: `count` pixels at `to`, as many
// at `then` if rows is 2.
template <class T>
void store_pixels(const T* sums, int count, int rows, int64_t channels, int64_t plane, const LastSteps<T>& steps,
                  int64_t number, T* to, T* then) {
  constexpr int lanes = Vec<T>::size;
  auto load = [count](const T* from, int) { return map_loop::load_part(from, count); };
  auto store = [&](const T* from, int64_t channel, T* at) {
    Vec<T> row[1][1] = {{map_loop::load_part(from, count)}};
    if (steps.taken()) steps.apply(row, number + channel, 0, at, 0, load);
    map_loop::store_part(row[0][0], at, count);
  };
  alignas(64) T turned[lanes * lanes];
  for (int64_t first = 0; first < channels; first += lanes, sums += lanes * lanes) {
    transpose_square(sums, lanes, turned, lanes);
    const int64_t end = std::min<int64_t>(channels - first, lanes);
    for (int64_t c = 0; c < end; ++c) {
      store(turned + c * lanes, first + c, to + (first + c) * plane);
      if (rows == 2) store(turned + c * lanes + count, first + c, then + (first + c) * plane);
    }
  }
}

constexpr int64_t kDepth = 128;  // rows of a segment
constexpr int64_t kSmallPlane = 64;
constexpr int64_t kLeastPixels = 32;  // in all images, that pay for packing filters in each run, which transposes them

}  // namespace

// Sums of few taps are stored before they have paid for turning pixels and channels around; on small images, registers of
// pixels leave lanes idle. Measured on an EPYC, and for filters of one pixel on a Xeon, with AVX-512.
template <class T>
bool ChannelPanels<T>::is_faster(const ConvolutionSizes& s) {
  constexpr int64_t kFewTaps = 200, kSmallImage = 1024, kFewChannels = 96;
  if (kMostPixels<T> > Vec<T>::size || s.out_channels < Vec<T>::size || s.pixels() == 0) return false;
  if (s.is_pointwise()) return s.in_channels >= kFewChannels && s.pixels() <= kSmallPlane;
  return s.taps() >= kFewTaps || s.pixels() <= kSmallImage;
}

template <class T>
ChannelPanels<T>::ChannelPanels(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order)
    : s_(sizes), order_(order), grid_(PatchAxis::forward(s_.height), PatchAxis::forward(s_.width), s_.images,
                                      s_.in_channels, s_.image_size(), s_.out_size()),
      in_place_(s_.is_pointwise()), inputs_(init, 0), sums_(init, 0) {
  if (!is_faster(s_)) return;
  const int64_t elements = s_.groups * s_.taps() * padded_outs();
  auto kept = PackedInput<T>::kept(init, order.port, "filters by panels of channels",
                                   {s_.groups, s_.out_channels, s_.in_channels, s_.taps(), order.tap}, elements);
  if (!kept && (s_.pixels() > kSmallPlane || s_.images * s_.pixels() < kLeastPixels)) return;
  filters_.emplace(init, std::move(kept), elements);
  init.add_kept_bytes(grid_.kept_bytes());
  const auto most_blocks = static_cast<int64_t>(blocks_of(grid_.region(0)).size());  // no region is larger
  sums_.resize(most_blocks * kBlockSums);
  if (!in_place_) inputs_.resize(grid_.buffer_size());
  else
    for (int64_t c = 0; c < s_.in_channels; ++c) channel_offsets_.push_back(c * s_.plane());
}

template <class T>
void ChannelPanels<T>::pack(KernelContext& context, const T* filter, T* to) const {
  const int64_t taps = s_.taps(), outs = s_.out_channels, window = s_.height.window * s_.width.window;
  const double cost = bytes_cost(16.0 * sizeof(T)) * static_cast<double>(taps) * kWidth;
  parallel_for(context, {s_.groups * panels(), cost}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / panels(), first = i % panels() * kWidth;
      const int64_t width = std::min<int64_t>(padded_outs() - first, kWidth);
      const int64_t count = std::min(width, outs - first);
      const T* from = filter + group * outs * taps + order_.first + first * order_.out;
      T* panel = to + (group * padded_outs() + first) * taps;
      for (int64_t k = 0; k < taps; ++k, panel += width) {
        const T* at = from + k / window * order_.channel + k % window * order_.tap;
        if (order_.out == 1) std::copy_n(at, count, panel);
        else
          for (int64_t c = 0; c < count; ++c) panel[c] = at[c * order_.out];
        std::fill(panel + count, panel + width, T(0));
      }
    }
  });
}

// Rows of all images of the region are cut into blocks of nearly equal length; of short rows, a block has two.
template <class T>
std::vector<typename ChannelPanels<T>::Block> ChannelPanels<T>::blocks_of(const Region& region) const {
  std::vector<Block> blocks;
  const int64_t rows = region.rows, columns = region.columns, all = region.images * rows;
  const bool short_rows = columns <= kMostPixels<T> / 2;
  const int64_t image_step = in_place_ ? s_.image_size() : grid_.image_elements();
  auto input = [&](int64_t row) { return row / rows * image_step + row % rows * grid_.pitch(); };
  auto output = [&](int64_t row) { return row / rows * s_.out_size() + row % rows * s_.width.out; };
  for (int64_t row = 0; row < all; row += short_rows ? 2 : 1) {
    const int64_t next = short_rows && row + 1 < all ? row + 1 : row;
    each_block(columns, kMostPixels<T>, [&](int64_t x, int count) {
      blocks.push_back({input(row) + x, input(next) + x, output(row) + x, output(next) + x, count, next > row ? 2 : 1});
    });
  }
  return blocks;
}

// The sums of rows [first, first + count) of a panel, added to those of earlier rows.
template <class T>
void ChannelPanels<T>::multiply_block(const Block& block, const T* inputs, const Rows& rows, T* sums) const {
  constexpr int lanes = Vec<T>::size;
  const int64_t* offsets = (in_place_ ? channel_offsets_ : grid_.offsets()).data();
  const PixelOperands<T> operands{rows.count,           rows.panel,          rows.ahead,          rows.ahead_step,
                                  offsets + rows.first, inputs + block.left, inputs + block.right};
  const bool add = rows.first > 0, wide = rows.width > lanes;
  with_constant<kMostPixels<T>>(block.count, [&](auto constant) {
    constexpr int count = decltype(constant)::value;
    auto multiply = [&](auto second) {
      constexpr int others = decltype(second)::value;
      if (wide) multiply_pixels<count, others, 2>(operands, add, sums, kRegisterSums);
      else multiply_pixels<count, others, 1>(operands, add, sums, kRegisterSums);
    };
    if constexpr (2 * count <= kMostPixels<T>) {
      if (block.rows == 2) return multiply(std::integral_constant<int, count>());
    }
    multiply(std::integral_constant<int, 0>());
  });
}

template <class T>
void ChannelPanels<T>::store_block(const Block& block, const T* sums, const Outputs& outputs) const {
  store_pixels(sums, block.count, block.rows, outputs.channels, s_.pixels(), outputs.steps, outputs.number,
               outputs.first + block.to, outputs.first + block.right_to);
}

// A segment of the panel's rows stays in the L1 cache for all blocks. These prefetch the next segment, each a part of it,
// because panels may lie in slow memory.
template <class T>
void ChannelPanels<T>::multiply_panel(const std::vector<Block>& blocks, const T* inputs, const T* panel,
                                      const Outputs& outputs, T* sums) const {
  const int64_t taps = s_.taps(), segments = std::max<int64_t>((taps + kDepth - 1) / kDepth, 1);
  const int width = outputs.channels > Vec<T>::size ? kWidth : Vec<T>::size;
  const int64_t step = std::max<int64_t>(width / static_cast<int64_t>(blocks.size()), 1);
  for (int64_t s = 0; s < segments; ++s) {
    const int64_t first = taps * s / segments, count = taps * (s + 1) / segments - first;
    Rows rows{first, count, width, panel + first * width, panel + (first + count) * width, step};
    T* of_block = sums;
    for (const Block& block : blocks) {
      const bool is_last = s + 1 == segments;
      for (int64_t c = 0; is_last && c < outputs.channels; ++c) {  // arrive in the L2 cache while they are computed
        __builtin_prefetch(outputs.first + block.to + c * s_.pixels(), 1, 2);
        if (block.rows == 2) __builtin_prefetch(outputs.first + block.right_to + c * s_.pixels(), 1, 2);
      }
      multiply_block(block, inputs, rows, of_block);
      if (is_last) store_block(block, of_block, outputs);
      rows.ahead += count * step;
      of_block += kBlockSums;
    }
  }
}

template <class T>
void ChannelPanels<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  const int64_t regions = grid_.regions(), coarse = s_.groups * regions;
  const int64_t slices = slices_per_item(coarse, context.threads, panels());
  const T* all = filters_->get(context, [&](T* to) { pack(context, filter, to); });
  const double flops = 2.0 * static_cast<double>(s_.images * s_.out_size() * s_.taps());
  const LoopSize size{coarse * slices, flops_cost(flops / static_cast<double>(std::max<int64_t>(coarse * slices, 1))),
                      1, inputs_.lanes()};
  const LastSteps<T> steps(context, s_.pixels(), s_.groups * s_.out_channels);
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    StoredParts<T> stored(context, steps.taken());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slice = i % slices, group = i / slices / regions;
      const Region region = grid_.region(i / slices % regions);
      const T* inputs = image + group * s_.in_channels * s_.plane();
      if (in_place_) {
        inputs += region.image * s_.image_size() + region.x;
      } else {
        grid_.pack(inputs, region, s_.in_channels, inputs_.data(lane));
        inputs = inputs_.data(lane);
      }
      const std::vector<Block> blocks = blocks_of(region);
      for (int64_t p = panels() * slice / slices; p < panels() * (slice + 1) / slices; ++p) {
        const int64_t first = p * kWidth, channels = std::min<int64_t>(s_.out_channels - first, kWidth);
        const T* panel = all + (group * padded_outs() + first) * s_.taps();
        T* to = out + region.to + (group * s_.out_channels + first) * s_.pixels();
        const Outputs outputs{to, channels, group * s_.out_channels + first, steps};
        multiply_panel(blocks, inputs, panel, outputs, sums_.data(lane));
        grid_.add_results(stored, region, channels, s_.pixels(), to - region.to);
      }
    }
  });
}

template class ChannelPanels<float>;
template class ChannelPanels<double>;

}  // namespace paddle_mini
