// WinogradConvolution: the transforms of filters, inputs and outputs, and the products between them.
#include "math/cpu/winograd.h"

#include "math/cpu/packed_input.h"
#include "math/cpu/pixel_products.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// A region has so few tiles that one plane has no more elements than this, and all planes stay in the L2 cache; but each
// region reads all filters, so it has no fewer tiles than these.
constexpr int64_t kPlaneElements = 13 << 10, kLeastTiles = 48;

using V = Vec<float>;

// One axis of the transform of inputs; the transform of a 4x4 tile is that of its columns, then of its rows.
inline void transform_inputs_of_axis(const V (&in)[4], V (&out)[4]) {
  out[0] = in[0] - in[2];
  out[1] = in[1] + in[2];
  out[2] = in[2] - in[1];
  out[3] = in[1] - in[3];
}

// One axis of the transform of a filter.
inline void transform_filter_of_axis(double a, double b, double c, double (&out)[4]) {
  out[0] = a;
  out[1] = (a + b + c) / 2;
  out[2] = (a - b + c) / 2;
  out[3] = c;
}

// planes[p * step] = the transformed tiles; tap (i, j) of neighbouring tiles is at from + offsets[4 i + j].
inline void transform_tiles(const float* from, const int64_t* offsets, float* planes, int64_t step) {
  V columns[4][4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const V in[4] = {V::load(from + offsets[j]), V::load(from + offsets[4 + j]), V::load(from + offsets[8 + j]),
                     V::load(from + offsets[12 + j])};
    V out[4];
    transform_inputs_of_axis(in, out);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) columns[i][j] = out[i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    V out[4];
    transform_inputs_of_axis(columns[i], out);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) out[j].store(planes + (4 * i + j) * step);
  }
}

// The 2x2 outputs of a tile, for a register of channels.
inline void transform_products(const float* products, int64_t step, V (&out)[2][2]) {
  V rows[2][4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const V a = V::load(products + j * step), b = V::load(products + (4 + j) * step);
    const V c = V::load(products + (8 + j) * step), d = V::load(products + (12 + j) * step);
    rows[0][j] = a + b + c;
    rows[1][j] = b - c - d;
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    out[i][0] = rows[i][0] + rows[i][1] + rows[i][2];
    out[i][1] = rows[i][1] - rows[i][2] - rows[i][3];
  }
}

// Stores a row of `count` pixels, [pixels, channels], of `channels` channels.
inline void store_turned(const float* pixels, int64_t count, int64_t channels, int64_t plane, float* to) {
  constexpr int lanes = V::size;
  alignas(64) float turned[lanes * lanes];
  transpose_square(pixels, lanes, turned, lanes);
  for (int64_t c = 0; c < channels; ++c, to += plane) {
    if (count == lanes) V::load(turned + c * lanes).store(to);
    else map_loop::store_part(V::load(turned + c * lanes), to, count);
  }
}

PatchAxis axis_of_tiles(const WindowAxis& axis) {
  const int64_t tiles = (axis.out + 1) / 2;
  return {axis.size, 2, -axis.before, {0, 1, 2, 3}, tiles, axis.out, 0, 2};
}

}  // namespace

// Measured: with few channels or filters, the transforms take the time that is saved.
bool WinogradConvolution::is_faster(const ConvolutionSizes& s) {
  auto is_plain = [](const WindowAxis& axis) {
    return axis.window == 3 && axis.stride == 1 && axis.dilation == 1 && axis.out > 0;
  };
  return kMostPixels<float> <= kLanes && is_plain(s.height) && is_plain(s.width) && s.in_channels >= 32 &&
         s.out_channels >= 32;
}

WinogradConvolution::Grid WinogradConvolution::grid_of_tiles(const ConvolutionSizes& s) {
  const int64_t most = std::max(kPlaneElements / std::max<int64_t>(s.in_channels, 1), kLeastTiles);
  return Grid(axis_of_tiles(s.height), axis_of_tiles(s.width), is_faster(s) ? s.images : 0, 1, s.image_size(),
              s.out_size(), most);
}

WinogradConvolution::WinogradConvolution(KernelInit& init, const ConvolutionSizes& sizes)
    : s_(sizes), grid_(grid_of_tiles(sizes)), inputs_(init, 0), planes_(init, 0), products_(init, 0) {
  if (!is_faster(s_)) return;
  const auto elements = static_cast<size_t>(s_.groups * kPlanes * s_.in_channels * padded_outs());
  kept_ = init.packed("Filter", "transformed filters by panels of channels",
                      {s_.groups, s_.out_channels, s_.in_channels}, elements * sizeof(float));
  if (!kept_) return;
  for (int64_t i = 0; i < grid_.regions(); ++i) most_tiles_ = std::max(most_tiles_, tiles(grid_.region(i)));
  for (int64_t c = 0; c < s_.in_channels; ++c) channel_offsets_.push_back(c * most_tiles_);
  inputs_.resize(grid_.buffer_size());
  planes_.resize(kPlanes * plane_step());
  products_.resize(kPlanes * most_tiles_ * kWidth);
}

int64_t WinogradConvolution::tiles(const Grid::Region& region) const {
  return region.images * region.rows * region.columns;
}

// Panels [planes, channels, filters of the panel], rounded once.
void WinogradConvolution::pack(KernelContext& context, const float* filter, float* to) const {
  const int64_t channels = s_.in_channels;
  const double cost = flops_cost(400) * static_cast<double>(channels * kWidth);
  parallel_for(context, {s_.groups * panels(), cost}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / panels(), first = i % panels() * kWidth;
      const int64_t width = std::min<int64_t>(padded_outs() - first, kWidth);
      float* panel = to + (group * padded_outs() + first) * kPlanes * channels;
      std::fill_n(panel, kPlanes * channels * width, 0.0f);
      for (int64_t o = 0; o < std::min(width, s_.out_channels - first); ++o) {
        for (int64_t c = 0; c < channels; ++c) {
          const float* taps = filter + ((group * s_.out_channels + first + o) * channels + c) * 9;
          double rows[3][4], columns[4];
          for (int y = 0; y < 3; ++y) transform_filter_of_axis(taps[3 * y], taps[3 * y + 1], taps[3 * y + 2], rows[y]);
          for (int x = 0; x < 4; ++x) {
            transform_filter_of_axis(rows[0][x], rows[1][x], rows[2][x], columns);
            for (int y = 0; y < 4; ++y) {
              panel[((4 * y + x) * channels + c) * width + o] = static_cast<float>(columns[y]);
            }
          }
        }
      }
    }
  });
}

// Planes [channels, tiles]. A register may exceed a row of tiles or a channel, because the next one is written later.
void WinogradConvolution::transform_inputs(const float* image, const Grid::Region& region, const Memory& memory) const {
  const int64_t rows = region.rows, columns = region.columns, step = plane_step();
  int64_t offsets[kPlanes];
  std::copy_n(grid_.offsets().data(), kPlanes, offsets);
  for (int64_t c = 0; c < s_.in_channels; ++c) {
    grid_.pack(image + c * s_.plane(), region, 1, memory.inputs);
    float* to = memory.planes + channel_offsets_[static_cast<size_t>(c)];
    for (int64_t row = 0; row < region.images * rows; ++row, to += columns) {
      const float* from = memory.inputs + row / rows * grid_.image_elements() + row % rows * grid_.pitch();
      for (int64_t x = 0; x < columns; x += kLanes) transform_tiles(from + x, offsets, to + x, step);
    }
  }
}

// products [planes, tiles, filters of the panel]
void WinogradConvolution::multiply(const Grid::Region& region, const float* panel, int64_t channels,
                                   const Memory& memory) const {
  const int64_t all = tiles(region), depth = s_.in_channels, width = channels > kLanes ? kWidth : kLanes;
  const int64_t* offsets = channel_offsets_.data();
  for (int64_t p = 0; p < kPlanes; ++p, panel += depth * width) {
    const float* inputs = memory.planes + p * plane_step();
    each_block(all, kMostPixels<float>, [&](int64_t first, int count) {
      float* to = memory.products + (p * all + first) * kWidth;
      const float* at = inputs + first;
      with_constant<kMostPixels<float>>(count, [&](auto constant) {
        constexpr int n = decltype(constant)::value;
        if (width == kWidth) multiply_pixels<n, 0, 2>(depth, panel, offsets, at, at, to, kWidth, kLanes);
        else multiply_pixels<n, 0, 1>(depth, panel, offsets, at, at, to, kWidth, kLanes);
      });
    });
  }
}

// A register's worth of pixels of two rows at a time.
void WinogradConvolution::transform_outputs(const Grid::Region& region, int64_t channels, const float* products,
                                            float* out) const {
  const int64_t rows = region.rows, columns = region.columns, step = tiles(region) * kWidth;
  alignas(64) float pixels[2][kLanes * kLanes] = {};
  for (int64_t row = 0; row < region.images * rows; ++row) {
    const int64_t y = row % rows;
    float* to = out + row / rows * s_.out_size() + 2 * y * s_.width.out;
    const bool both = 2 * (region.y + y) + 1 < s_.height.out;
    for (int64_t x = 0; x < columns; x += kLanes / 2) {
      const int64_t count = std::min<int64_t>(kLanes, s_.width.out - 2 * (region.x + x));
      const int64_t here = std::min<int64_t>(kLanes / 2, columns - x);
      for (int64_t first = 0; first < channels; first += kLanes) {
        const float* from = products + (row * columns + x) * kWidth + first;
        for (int64_t t = 0; t < here; ++t, from += kWidth) {
          V tile[2][2];
          transform_products(from, step, tile);
          for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) tile[i][j].store(pixels[i] + (2 * t + j) * kLanes);
          }
        }
        const int64_t end = std::min<int64_t>(channels - first, kLanes);
        float* at = to + first * s_.pixels() + 2 * x;
        store_turned(pixels[0], std::min(count, 2 * here), end, s_.pixels(), at);
        if (both) store_turned(pixels[1], std::min(count, 2 * here), end, s_.pixels(), at + s_.width.out);
      }
    }
  }
}

// Adds the pixels of the region's tiles, which are complete.
void WinogradConvolution::add_results(StoredParts<float>& stored, const Grid::Region& region, int64_t channels,
                                      const float* out) const {
  if (!stored.are_wanted()) return;
  const int64_t rows = std::min(2 * region.rows, s_.height.out - 2 * region.y);
  const int64_t columns = std::min(2 * region.columns, s_.width.out - 2 * region.x);
  for (int64_t image = 0; image < region.images; ++image) {
    for (int64_t c = 0; c < channels; ++c) {
      const float* at = out + image * s_.out_size() + c * s_.pixels();
      if (columns == s_.width.out) stored.add(at, rows * columns);
      else
        for (int64_t y = 0; y < rows; ++y) stored.add(at + y * s_.width.out, columns);
    }
  }
}

void WinogradConvolution::run(KernelContext& context, const float* image, const float* filter, float* out) {
  const int64_t regions = grid_.regions(), coarse = s_.groups * regions;
  const int64_t slices = slices_per_item(coarse, 2 * context.threads, panels());
  const float* all = packed<float>(*kept_, context, [&](float* to) { pack(context, filter, to); });
  const double flops = 2.0 * static_cast<double>(s_.images * s_.out_size()) * static_cast<double>(s_.in_channels) * 5;
  const LoopSize size{coarse * slices, flops_cost(flops / static_cast<double>(std::max<int64_t>(coarse * slices, 1))),
                      1, inputs_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    const Memory memory{inputs_.data(lane), planes_.data(lane), products_.data(lane)};
    int64_t transformed = -1;
    StoredParts<float> stored(context);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slice = i % slices, group = i / slices / regions;
      const Grid::Region region = grid_.region(i / slices % regions);
      if (i / slices != transformed) transform_inputs(image + group * s_.in_channels * s_.plane(), region, memory);
      transformed = i / slices;
      for (int64_t p = panels() * slice / slices; p < panels() * (slice + 1) / slices; ++p) {
        const int64_t first = p * kWidth, channels = std::min<int64_t>(s_.out_channels - first, kWidth);
        multiply(region, all + (group * padded_outs() + first) * kPlanes * s_.in_channels, channels, memory);
        float* to = out + region.to + (group * s_.out_channels + first) * s_.pixels();
        transform_outputs(region, channels, memory.products, to);
        add_results(stored, region, channels, to);
      }
    }
  });
}

}  // namespace paddle_mini
