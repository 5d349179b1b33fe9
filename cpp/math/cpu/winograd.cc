// WinogradConvolution: regions and blocks of tiles, and the loops over panels of filters.
#include "math/cpu/winograd.h"

namespace paddle_mini {

using namespace winograd;

namespace {

// A region has so few tiles that one plane has no more elements than this, and all planes stay in the L2 cache beside a
// panel of filters; but each region reads all filters, so it has no fewer tiles than these.
constexpr int64_t kPlaneElements = 13 << 10, kLeastTiles = 16;
// Transformed filters from here on do not fit into the L2 cache: with several regions, one plane at a time of so many tiles.
constexpr int64_t kManyFilters = 1 << 17, kTilesOfPlane = 128;
constexpr int64_t kFewChannels = 128;  // whose panels stay in the L2 cache beside the planes
constexpr int64_t kDepth = 128;  // channels of filters that are transformed in a run at once, and stay in the L2 cache
constexpr int64_t kLeastPixels = 192;  // that pay for packing filters in each run

void pack_panel(const float* filter, const FilterOrder& order, int64_t channels, int64_t count, int64_t width,
                bool transforms, float* panel) {
  alignas(64) float taps[9 * kWidth] = {};
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t o = 0; o < count; ++o) {
      const float* from = filter + o * order.out + c * order.channel;
      for (int64_t tap = 0; tap < 9; ++tap) taps[tap * width + o] = from[tap * order.tap];
    }
    if (!transforms) {
      std::copy_n(taps, 9 * width, panel + c * 9 * width);
      continue;
    }
    for (int64_t r = 0; r < width; r += kLanes) {
      transform_taps(taps + r, width, panel + c * width + r, channels * width);
    }
  }
}

// The pixels of the region in one channel of an image; the padding has been cleared.
void copy_padded(const ConvolutionSizes& s, const Region& region, const float* plane, int64_t pitch, float* to) {
  const int64_t top = 2 * region.y - s.height.before, left = 2 * region.x - s.width.before;
  const int64_t first = std::max<int64_t>(-left, 0), end = std::min(2 * region.columns + 2, s.width.size - left);
  const int64_t end_row = std::min(2 * region.rows + 2, s.height.size - top);
  for (int64_t row = std::max<int64_t>(-top, 0); row < end_row; ++row) {
    const float* from = plane + (top + row) * s.width.size + left;
    float* at = to + row * pitch;
    int64_t x = first;
    for (; x + kLanes <= end; x += kLanes) V::load(from + x).store(at + x);
    if (x < end) map_loop::load_part(from + x, end - x).store(at + x);
  }
}

// Outputs arrive in the L2 cache while they are computed.
void prefetch_outputs(const ConvolutionSizes& s, const Region& region, const Block& block, int64_t channels,
                      const float* out) {
  for (int64_t row = block.row; row < block.row + block.rows; ++row) {
    const int64_t y = 2 * (region.y + row % region.rows);
    const float* at = out + row / region.rows * s.out_size() + y * s.width.out + 2 * (region.x + block.x);
    for (int64_t c = 0; c < channels; ++c, at += s.pixels()) {
      for (int64_t x = 0; x < 2 * block.columns; x += 64 / sizeof(float)) {
        __builtin_prefetch(at + x, 1, 2);
        __builtin_prefetch(at + s.width.out + x, 1, 2);
      }
    }
  }
}

// A register's worth of pixels of two rows at a time.
void transform_outputs(const ConvolutionSizes& s, const Region& region, const Block& block, const float* products,
                       const Outputs& outputs) {
  const int64_t step = block.tiles() * kWidth;
  alignas(64) float pixels[2][kLanes * kLanes] = {};
  for (int64_t r = 0; r < block.rows; ++r) {
    const int64_t row = block.row + r, y = 2 * (region.y + row % region.rows), left = 2 * (region.x + block.x);
    float* to = outputs.first + row / region.rows * s.out_size() + y * s.width.out + left;
    for (int64_t x = 0; x < block.columns; x += kLanes / 2) {
      const int64_t here = std::min<int64_t>(kLanes / 2, block.columns - x);
      const int64_t count = std::min(2 * here, s.width.out - left - 2 * x);
      for (int64_t first = 0; first < outputs.channels; first += kLanes) {
        const float* from = products + (r * block.columns + x) * kWidth + first;
        for (int64_t t = 0; t < here; ++t, from += kWidth) {
          V tile[2][2];
          transform_products(from, step, tile);
          for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) tile[i][j].store(pixels[i] + (2 * t + j) * kLanes);
          }
        }
        const int64_t end = std::min<int64_t>(outputs.channels - first, kLanes);
        float* at = to + first * s.pixels() + 2 * x;
        const int64_t number = outputs.number + first;
        store_turned(pixels[0], count, end, s.pixels(), outputs.steps, number, at);
        if (y + 1 < s.height.out) {
          store_turned(pixels[1], count, end, s.pixels(), outputs.steps, number, at + s.width.out);
        }
      }
    }
  }
}

}  // namespace

// Measured: with few channels or filters, the transforms take the time that is saved.
bool suits_winograd(const ConvolutionSizes& s) {
  auto is_plain = [](const WindowAxis& axis) {
    return axis.window == 3 && axis.stride == 1 && axis.dilation == 1 && axis.out > 0;
  };
  return kMostTiles <= kLanes && is_plain(s.height) && is_plain(s.width) && s.in_channels >= 32 && s.out_channels >= 32;
}

WinogradConvolution::WinogradConvolution(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order)
    : s_(sizes), filter_order_(order), inputs_(init, 0), planes_(init, 0), filters_(init, 0), products_(init, 0) {
  if (!suits_winograd(s_)) return;
  choose_order();
  const int64_t elements = s_.groups * panel_elements(padded_outs());
  auto kept = PackedInput<float>::kept(init, order.port,
                                       order_ == Order::Taps ? "taps by panels of channels"
                                                             : "transformed filters by panels of channels",
                                       {s_.groups, s_.out_channels, s_.in_channels, order.tap}, elements);
  if (!kept && s_.images * s_.pixels() < kLeastPixels) return;
  packed_.emplace(init, std::move(kept), elements);
  inputs_.resize((2 * regions_.rows() + 2) * input_pitch_ + kLanes);
  planes_.resize(kPlanes * plane_step_);
  if (order_ == Order::Taps) filters_.resize(kPlanes * (kDepth * kWidth + kLanes));
  products_.resize(products_of_panel() * (order_ == Order::ByPlane ? panels() : 1));
}

void WinogradConvolution::choose_order() {
  regions_ = WinogradRegions(s_, std::max(kPlaneElements / s_.in_channels, kLeastTiles));
  if (s_.in_channels * s_.out_channels > kManyFilters) {
    order_ = regions_.count() <= 1 ? Order::Taps : Order::ByPlane;
    if (order_ == Order::ByPlane) regions_ = WinogradRegions(s_, kTilesOfPlane);
  } else if (regions_.count() > 2 && s_.in_channels <= kFewChannels) {
    order_ = Order::ByBlock;
  }
  most_tiles_ = regions_.places();
  if (most_tiles_ % (4 * kLanes) == 0) most_tiles_ += kLanes;  // else channels compete for few sets of the L1 cache
  plane_step_ = s_.in_channels * most_tiles_ + kLanes;
  input_pitch_ = 2 * rounded(regions_.columns(), kLanes) + kLanes;
}

int64_t WinogradConvolution::panels() const { return parts_of(s_.out_channels, kWidth); }
int64_t WinogradConvolution::products_of_panel() const { return kPlanes * kWidth * regions_.tiles(); }
int64_t WinogradConvolution::padded_outs() const { return rounded(s_.out_channels, kLanes); }
int64_t WinogradConvolution::panel_elements(int64_t channels) const {
  return channels * s_.in_channels * (order_ == Order::Taps ? 9 : kPlanes);
}

// Panels [channels, 9 taps, filters of the panel], or [planes, channels, filters of the panel].
void WinogradConvolution::pack(KernelContext& context, const float* filter, float* to) const {
  const double cost = flops_cost(400) * static_cast<double>(s_.in_channels * kWidth);
  parallel_for(context, {s_.groups * panels(), cost}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / panels(), first = i % panels() * kWidth;
      const int64_t width = std::min<int64_t>(padded_outs() - first, kWidth);
      const float* from =
          filter + group * s_.out_channels * s_.taps() + filter_order_.first + first * filter_order_.out;
      pack_panel(from, filter_order_, s_.in_channels, std::min(width, s_.out_channels - first), width,
                 order_ != Order::Taps, to + panel_elements(group * padded_outs() + first));
    }
  });
}

// Planes [channels, tiles]. A register may exceed a row of tiles or a channel, because the next one is written later.
void WinogradConvolution::transform_inputs(const float* image, const Region& region, const Memory& memory) const {
  const int64_t pitch = WinogradRegions::pitch(region.columns);
  std::fill_n(memory.inputs, (2 * regions_.rows() + 2) * input_pitch_ + kLanes, 0.0f);
  for (int64_t c = 0; c < s_.in_channels; ++c) {
    float* to = memory.planes + c * most_tiles_;
    for (int64_t n = 0; n < region.images; ++n) {
      const float* plane = image + (region.image + n) * s_.image_size() + c * s_.plane();
      copy_padded(s_, region, plane, input_pitch_, memory.inputs);
      for (int64_t y = 0; y < region.rows; ++y, to += pitch) {
        const float* from = memory.inputs + 2 * y * input_pitch_;
        for (int64_t x = 0; x < region.columns; x += kLanes) {
          transform_tiles(from + 2 * x, input_pitch_, to + x, plane_step_);
        }
      }
    }
  }
}

// products [planes, tiles, filters of the panel] of one plane, from some channels
void WinogradConvolution::multiply(const Block& block, const Panel& panel, int64_t p, const float* factors,
                                   const Channels& part, const float* ahead, const Memory& memory) const {
  const float* from = memory.planes + p * plane_step_ + part.first * most_tiles_ + block.place;
  const bool add = part.first > 0;
  with_constant<kMostTiles>(static_cast<int>(block.tiles()), [&](auto constant) {
    constexpr int n = decltype(constant)::value;
    float* to = panel.products + (block.first * kPlanes + p * n) * kWidth;
    if (panel.width == kWidth) multiply_tiles<n, 2>(part.count, factors, from, most_tiles_, ahead, add, to);
    else multiply_tiles<n, 1>(part.count, factors, from, most_tiles_, ahead, add, to);
  });
}

WinogradConvolution::Panel WinogradConvolution::panel(const Region& region, int64_t group, int64_t i,
                                                      const float* filters, float* products, float* out,
                                                      const LastSteps<float>& steps) const {
  const int64_t first = i * kWidth, channels = std::min<int64_t>(s_.out_channels - first, kWidth);
  const int64_t number = group * s_.out_channels + first;
  return {filters + panel_elements(group * padded_outs() + first), channels > kLanes ? kWidth : kLanes, products,
          Outputs{out + region.image * s_.out_size() + number * s_.pixels(), channels, number, steps}};
}

// The products of a block stay in the L1 cache until they are transformed.
void WinogradConvolution::compute_by_block(const Region& region, const Panel& panel, const Memory& memory) const {
  WinogradRegions::each_block(region, [&](Block block) {
    prefetch_outputs(s_, region, block, panel.outputs.channels, panel.outputs.first);
    block.first = 0;
    const float* factors = panel.filters;
    for (int64_t p = 0; p < kPlanes; ++p, factors += s_.in_channels * panel.width) {
      multiply(block, panel, p, factors, {0, s_.in_channels}, factors, memory);
    }
    transform_outputs(s_, region, block, panel.products, panel.outputs);
  });
}

// Some channels at a time; the lines of the next ones are prefetched meanwhile.
void WinogradConvolution::multiply_taps(const Region& region, const Panel& panel, const Memory& memory) const {
  const int64_t width = panel.width, depth = s_.in_channels;
  for (int64_t first = 0; first < depth; first += kDepth) {
    const Channels part{first, std::min(kDepth, depth - first)};
    const int64_t step = part.count * width + kLanes;  // whose planes do not compete for a set of the L1 cache
    const float *taps = panel.filters + first * 9 * width, *next = taps + part.count * 9 * width;
    for (int64_t c = 0; c < part.count; ++c) {
      for (int64_t r = 0; r < width; r += kLanes) {
        transform_taps(taps + c * 9 * width + r, width, memory.filters + c * width + r, step);
      }
    }
    const float* ahead = next;
    for (int64_t p = 0; p < kPlanes; ++p) {
      WinogradRegions::each_block(region, [&](const Block& block) {
        multiply(block, panel, p, memory.filters + p * step, part, ahead, memory);
        if (ahead < next + 9 * kDepth * width) ahead += part.count * kLanes / 2;
      });
    }
  }
}

// Panels [first, end): of all of them one plane is multiplied after the other, or all planes of one.
void WinogradConvolution::compute_panels(const Region& region, const Panel* first, const Panel* end,
                                         const Memory& memory) const {
  if (order_ == Order::ByBlock) return compute_by_block(region, *first, memory);
  if (order_ == Order::Taps) multiply_taps(region, *first, memory);
  else
    for (int64_t p = 0; p < kPlanes; ++p) {
      for (const Panel* panel = first; panel < end; ++panel) {
        const float* factors = panel->filters + p * s_.in_channels * panel->width;
        WinogradRegions::each_block(region, [&](const Block& block) {
          multiply(block, *panel, p, factors, {0, s_.in_channels}, factors, memory);
        });
      }
    }
  for (; first < end; ++first) {
    WinogradRegions::each_block(region, [&](const Block& block) {
      const float* products = first->products + block.first * kPlanes * kWidth;
      transform_outputs(s_, region, block, products, first->outputs);
    });
  }
}

void WinogradConvolution::run(KernelContext& context, const float* image, const float* filter, float* out) {
  const int64_t regions = regions_.count(), coarse = s_.groups * regions;
  const int64_t slices = slices_per_item(coarse, context.threads, panels());
  const float* all = packed_->get(context, [&](float* to) { pack(context, filter, to); });
  const double flops = 2.0 * static_cast<double>(s_.images * s_.out_size()) * static_cast<double>(s_.in_channels) * 5;
  const LoopSize size{coarse * slices, flops_cost(flops / static_cast<double>(std::max<int64_t>(coarse * slices, 1))),
                      1, inputs_.lanes()};
  const LastSteps<float> steps(context, s_.pixels(), s_.groups * s_.out_channels);
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    const Memory memory{inputs_.data(lane), planes_.data(lane), filters_.data(lane), products_.data(lane)};
    int64_t transformed = -1;
    StoredParts<float> stored(context, steps.taken());
    std::vector<Panel> together;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slice = i % slices, group = i / slices / regions, end_panel = panels() * (slice + 1) / slices;
      const Region region = regions_.region(i / slices % regions);
      if (i / slices != transformed) transform_inputs(image + group * s_.in_channels * s_.plane(), region, memory);
      transformed = i / slices;
      for (int64_t p = panels() * slice / slices; p < end_panel;) {
        together.clear();
        do {
          float* products = memory.products + static_cast<int64_t>(together.size()) * products_of_panel();
          together.push_back(panel(region, group, p++, all, products, out, steps));
        } while (order_ == Order::ByPlane && p < end_panel);
        compute_panels(region, together.data(), together.data() + together.size(), memory);
        for (const Panel& each : together) add_results(s_, region, each.outputs, stored);
      }
    }
  });
}

}  // namespace paddle_mini
