// PatchProducts: tiles of pixels, panels of patches, and the loop that multiplies them.
#include "math/cpu/patch_products.h"

#include "math/copy.h"
#include "math/cpu/register_blocks.h"
#include "math/cpu/short_runs.h"

#include <algorithm>

namespace paddle_mini {
namespace {

constexpr int64_t kPanelElements = 1 << 17;  // limit of the panels of a group of tiles

// sums[i] += sum over k of a[i * row_step + k * k_step] * b[k]; b[k] is two registers.
template <int rows, class T>
inline void multiply(int64_t count, const T* a, int64_t row_step, int64_t k_step, const T* b, Vec<T> (&sums)[rows][2]) {
  constexpr int lanes = Vec<T>::size;
  for (int64_t k = 0; k < count; ++k, a += k_step, b += 2 * lanes) {
    Vec<T> left = Vec<T>::load(b), right = Vec<T>::load(b + lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      Vec<T> factor(a[i * row_step]);
      sums[i][0] = multiply_add(factor, left, sums[i][0]);
      sums[i][1] = multiply_add(factor, right, sums[i][1]);
    }
  }
}

// result [rows, tile] = a [rows, count] panel [count, tile]; a is packed as [count, rows].
template <class T>
void multiply_panel(int rows, int64_t count, const T* a, const T* panel, T* result) {
  constexpr int lanes = Vec<T>::size;
  with_constant<kMostRows<T>>(rows, [&](auto constant) {
    constexpr int n = decltype(constant)::value;
    Vec<T> sums[n][2];
    for (auto& sum : sums) sum[0] = sum[1] = Vec<T>(T(0));
    multiply<n>(count, a, 1, n, panel, sums);
    for (int i = 0; i < n; ++i) {
      sums[i][0].store(result + 2 * i * lanes);
      sums[i][1].store(result + (2 * i + 1) * lanes);
    }
  });
}

// a [count, rows] = op(filter) for one block: element (k, i) is filter[i * row_step + k * k_step].
template <class T>
void pack_block(const T* filter, int64_t row_step, int64_t k_step, int64_t count, int rows, T* a) {
  for (int64_t k = 0; k < count; ++k) {
    for (int i = 0; i < rows; ++i) *a++ = filter[i * row_step + k * k_step];
  }
}

// Locates the patches of pixels in the image.
struct Patches {
  int64_t height, width, step;
  bool padded;

  Patches(const ConvolutionSizes& s, bool padded)
      : height(s.height.size), width(s.width.size), step(s.width.stride), padded(padded) {}

  // Calls f(position in the tile, element of the image, count, step) for the pixels of a run whose tap is inside of the
  // image.
  template <class Run, class Tap, class F>
  void each_part(const Run& run, const Tap& tap, F f) const {
    int64_t from = run.offset + tap.offset;
    if (!padded) return f(run.at, from, run.count, step);
    int64_t y = run.y + tap.y, x = run.x + tap.x;
    if (y < 0 || y >= height) return;
    int begin = 0, end = run.count;
    while (begin < end && x + begin * step < 0) ++begin;
    while (end > begin && x + (end - 1) * step >= width) --end;
    if (begin < end) f(run.at + begin, from + begin * step, end - begin, step);
  }
};

}  // namespace

template <class T>
PatchProducts<T>::PatchProducts(KernelInit& init, const ConvolutionSizes& sizes, bool gradients)
    : s_(sizes), padded_(sizes.height.before || sizes.height.after || sizes.width.before || sizes.width.after),
      padded_outs_((sizes.out_channels + kTile - 1) / kTile * kTile),
      filter_(init, s_.groups * s_.out_channels * s_.taps()),
      sums_(init, gradients ? s_.groups * s_.taps() * padded_outs_ : 0), columns_(init, 0), outs_(init, 0) {
  const WindowAxis &h = s_.height, &w = s_.width;
  for (int64_t c = 0; c < s_.in_channels; ++c) {
    for (int64_t i = 0; i < h.window; ++i) {
      for (int64_t j = 0; j < w.window; ++j) {
        int64_t y = i * h.dilation, x = j * w.dilation;
        taps_.push_back({y, x, (c * h.size + y) * w.size + x});
      }
    }
  }
  tiles_ = (s_.images * s_.pixels() + kTile - 1) / kTile;
  int64_t fitting = kPanelElements / std::max<int64_t>(s_.taps() * kTile, 1);
  tiles_at_once_ = std::max<int64_t>(std::min({tiles_, fitting, kMostTiles}), 1);
  columns_.resize(tiles_at_once_ * kTile * s_.taps());
  outs_.resize(gradients ? tiles_at_once_ * kTile * padded_outs_ : 0);
}

template <class T>
typename PatchProducts<T>::Tile PatchProducts<T>::tile_at(int64_t first) const {
  Tile tile;
  tile.run_count = 0;
  int at = 0;
  int64_t end = std::min(first + kTile, s_.images * s_.pixels());
  for (int64_t pixel = first; pixel < end;) {
    int64_t image = pixel / s_.pixels(), inside = pixel % s_.pixels(), y = inside / s_.width.out,
            x = inside % s_.width.out;
    int count = static_cast<int>(std::min(s_.width.out - x, end - pixel));
    int64_t top = s_.height.first(y), left = s_.width.first(x);
    tile.runs[tile.run_count++] = {image, inside, top, left, image * s_.image_size() + top * s_.width.size + left,
                                   at,    count};
    at += count, pixel += count;
  }
  tile.pixel_count = at;
  return tile;
}

// Calls f(tiles, count) for the groups of tiles [begin, end).
template <class T>
template <class F>
void PatchProducts<T>::each_tile_group(int64_t begin, int64_t end, F f) const {
  Tile tiles[kMostTiles];
  for (int64_t first = begin * tiles_at_once_; first < std::min(end * tiles_at_once_, tiles_);
       first += tiles_at_once_) {
    int64_t count = std::min(tiles_at_once_, tiles_ - first);
    for (int64_t t = 0; t < count; ++t) tiles[t] = tile_at((first + t) * kTile);
    f(tiles, count);
  }
}

// Calls f(group, tap, end tap, lane), split by groups and by input channels, whose taps and elements of the image are
// disjoint.
template <class T>
template <class F>
void PatchProducts<T>::each_group_and_channels(KernelContext& context, F f) {
  const int64_t window = s_.height.window * s_.width.window;
  const int64_t cuts = std::clamp<int64_t>(2 * context.threads / std::max<int64_t>(s_.groups, 1), 1,
                                           std::max<int64_t>(s_.in_channels, 1));
  const double flops = 2.0 * static_cast<double>(tiles_ * kTile * s_.taps()) * static_cast<double>(s_.out_channels);
  const LoopSize size{s_.groups * cuts, flops_cost(flops / static_cast<double>(cuts)), 1, columns_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t cut = i % cuts;
      f(i / cuts, s_.in_channels * cut / cuts * window, s_.in_channels * (cut + 1) / cuts * window, lane);
    }
  });
}

template <class T>
void PatchProducts<T>::pack_columns(const T* image, int64_t tap, int64_t end_tap, int64_t group, const Tile& tile,
                                    T* panel) const {
  const T* start = image + group * s_.in_channels * s_.height.size * s_.width.size;
  const Patches patches(s_, padded_);
  Run runs[kTile];  // a local copy can't alias the stores, so it is not reloaded after each
  std::copy_n(tile.runs, tile.run_count, runs);
  const int run_count = tile.run_count;
  const bool holes = padded_ || tile.pixel_count < kTile;
  for (const Tap *next = taps_.data() + tap, *end = taps_.data() + end_tap; next != end; ++next) {
    if (holes) std::fill_n(panel, kTile, T(0));
    for (int r = 0; r < run_count; ++r) {
      patches.each_part(runs[r], *next, [&](int at, int64_t from, int count, int64_t step) {
        if (step == 1) copy_run(panel + at, start + from, count);
        else
          for (int i = 0; i < count; ++i) panel[at + i] = start[from + i * step];
      });
    }
    panel += kTile;
  }
}

// The inverse for some of the taps: adds the patches' values to the image elements that they were read from.
template <class T>
void PatchProducts<T>::add_columns(const T* rows, int64_t tap, int row_count, int64_t group, const Tile& tile,
                                   T* image) const {
  T* start = image + group * s_.in_channels * s_.height.size * s_.width.size;
  const Patches patches(s_, padded_);
  Run runs[kTile];
  std::copy_n(tile.runs, tile.run_count, runs);
  const int run_count = tile.run_count;
  for (const Tap *next = taps_.data() + tap, *end = next + row_count; next != end; ++next, rows += kTile) {
    for (int r = 0; r < run_count; ++r) {
      patches.each_part(runs[r], *next, [&](int at, int64_t to, int count, int64_t step) {
        if (step == 1) add_run(start + to, rows + at, count);
        else
          for (int i = 0; i < count; ++i) start[to + i * step] += rows[at + i];
      });
    }
  }
}

// The values of one output channel at the pixels of a tile.
template <class T>
inline void PatchProducts<T>::copy_outputs(const T* out, int64_t channel, const Tile& tile, T* to) const {
  for (int r = 0; r < tile.run_count; ++r) {
    const Run& run = tile.runs[r];
    copy_run(to + run.at, out + run.image * s_.out_size() + channel * s_.pixels() + run.pixel, run.count);
  }
}

// panel [out_channels, tile]
template <class T>
void PatchProducts<T>::pack_outputs(const T* out, int64_t group, const Tile& tile, T* panel) const {
  for (int64_t c = 0; c < s_.out_channels; ++c, panel += kTile) {
    if (tile.pixel_count < kTile) std::fill_n(panel, kTile, T(0));
    copy_outputs(out, group * s_.out_channels + c, tile, panel);
  }
}

// panel [padded_outs / tile, pixels of the tile, tile]: output channels are contiguous, padded with zeros
template <class T>
void PatchProducts<T>::pack_outputs_by_pixel(const T* out, int64_t group, const Tile& tile, T* panel) const {
  constexpr int lanes = Vec<T>::size;
  alignas(64) T rows[lanes * kTile];
  if (tile.pixel_count < kTile) std::fill_n(rows, lanes * kTile, T(0));
  for (int64_t first = 0; first < padded_outs_; first += lanes) {
    int64_t count = std::clamp<int64_t>(s_.out_channels - first, 0, lanes);
    for (int64_t c = 0; c < count; ++c) copy_outputs(out, group * s_.out_channels + first + c, tile, rows + c * kTile);
    if (count < lanes) std::fill_n(rows + count * kTile, (lanes - count) * kTile, T(0));
    T* to = panel + first / kTile * kTile * kTile + first % kTile;
    for (int half = 0; half < 2; ++half) transpose_square(rows + half * lanes, kTile, to + half * lanes * kTile, kTile);
  }
}

template <class T>
void PatchProducts<T>::store_outputs(const T* rows, int64_t channel, int row_count, int64_t group, const Tile& tile,
                                     T* out) const {
  for (int i = 0; i < row_count; ++i, rows += kTile) {
    T* to = out + (group * s_.out_channels + channel + i) * s_.pixels();
    for (int r = 0; r < tile.run_count; ++r) {
      const Run& run = tile.runs[r];
      copy_run(to + run.image * s_.out_size() + run.pixel, rows + run.at, run.count);
    }
  }
}

// out = filter columns
template <class T>
void PatchProducts<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  const int64_t taps = s_.taps(), outs = s_.out_channels;
  for (int64_t group = 0; group < s_.groups; ++group) {
    T* packed = filter_.data() + group * outs * taps;
    each_block(outs, kMostRows<T>, [&](int64_t first, int count) {
      pack_block(filter + (group * outs + first) * taps, taps, 1, taps, count, packed + first * taps);
    });
    const double flops = 2.0 * static_cast<double>(tiles_at_once_ * kTile * taps) * static_cast<double>(outs);
    const LoopSize size{tile_groups(), flops_cost(flops), 1, columns_.lanes()};
    parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
      alignas(64) T rows[kMostRows<T> * kTile];
      T* columns = columns_.data(lane);
      each_tile_group(begin, end, [&](const Tile* tiles, int64_t tile_count) {
        for (int64_t t = 0; t < tile_count; ++t)
          pack_columns(image, 0, taps, group, tiles[t], columns + t * taps * kTile);
        each_block(outs, kMostRows<T>, [&](int64_t first, int count) {
          for (int64_t t = 0; t < tile_count; ++t) {
            multiply_panel(count, taps, packed + first * taps, columns + t * taps * kTile, rows);
            store_outputs(rows, first, count, group, tiles[t], out);
          }
        });
      });
    });
  }
}

// gradient of columns = filter' (gradient of out)
template <class T>
void PatchProducts<T>::input_gradient(KernelContext& context, const T* filter, const T* out_gradient,
                                      T* image_gradient) {
  const int64_t taps = s_.taps(), outs = s_.out_channels;
  fill_n(context, image_gradient, s_.images * s_.image_size(), T(0));
  each_group_and_channels(context, [&](int64_t group, int64_t first_tap, int64_t end_tap, int lane) {
    alignas(64) T rows[kMostRows<T> * kTile];
    T *packed = filter_.data() + (group * taps + first_tap) * outs, *panels = outs_.data(lane);
    each_block(end_tap - first_tap, kMostRows<T>, [&](int64_t first, int count) {
      pack_block(filter + group * outs * taps + first_tap + first, 1, taps, outs, count, packed + first * outs);
    });
    each_tile_group(0, tile_groups(), [&](const Tile* tiles, int64_t tile_count) {
      for (int64_t t = 0; t < tile_count; ++t) {
        pack_outputs(out_gradient, group, tiles[t], panels + t * padded_outs_ * kTile);
      }
      // Tile by tile, so that the order of the sums does not depend on the blocks.
      for (int64_t t = 0; t < tile_count; ++t) {
        each_block(end_tap - first_tap, kMostRows<T>, [&](int64_t first, int count) {
          multiply_panel(count, outs, packed + first * outs, panels + t * padded_outs_ * kTile, rows);
          add_columns(rows, first_tap + first, count, group, tiles[t], image_gradient);
        });
      }
    });
  });
}

// (gradient of filter)' = sum over the pixels of columns (gradient of out)'
template <class T>
void PatchProducts<T>::filter_gradient(KernelContext& context, const T* image, const T* out_gradient,
                                       T* filter_gradient) {
  const int64_t taps = s_.taps(), outs = s_.out_channels;
  each_group_and_channels(context, [&](int64_t group, int64_t first_tap, int64_t end_tap, int lane) {
    sum_over_tiles(image, out_gradient, first_tap, end_tap, group, lane);
    for (int64_t out = 0; out < outs; ++out) {
      const T* sums = sums_.data() + (group * padded_outs_ + out / kTile * kTile) * taps + out % kTile;
      T* to = filter_gradient + (group * outs + out) * taps;
      for (int64_t tap = first_tap; tap < end_tap; ++tap) to[tap] = sums[tap * kTile];
    }
  });
}

// sums [padded outs / tile, taps, tile], for some of the taps
template <class T>
void PatchProducts<T>::sum_over_tiles(const T* image, const T* out_gradient, int64_t first_tap, int64_t end_tap,
                                      int64_t group, int lane) {
  constexpr int lanes = Vec<T>::size;
  const int64_t taps = s_.taps(), width = end_tap - first_tap;
  T *all_sums = sums_.data() + group * padded_outs_ * taps, *columns = columns_.data(lane), *panels = outs_.data(lane);
  for (int64_t out = 0; out < padded_outs_; out += kTile) {
    std::fill_n(all_sums + out * taps + first_tap * kTile, width * kTile, T(0));
  }
  each_tile_group(0, tile_groups(), [&](const Tile* tiles, int64_t tile_count) {
    for (int64_t t = 0; t < tile_count; ++t) {
      pack_columns(image, first_tap, end_tap, group, tiles[t], columns + t * width * kTile);
      pack_outputs_by_pixel(out_gradient, group, tiles[t], panels + t * padded_outs_ * kTile);
    }
    for (int64_t out = 0; out < padded_outs_; out += kTile) {
      each_block(width, kMostRows<T>, [&](int64_t first, int count) {
        with_constant<kMostRows<T>>(count, [&](auto constant) {
          constexpr int n = decltype(constant)::value;
          T* sums = all_sums + out * taps + (first_tap + first) * kTile;
          Vec<T> registers[n][2];
          for (int i = 0; i < 2 * n; ++i) registers[i / 2][i % 2] = Vec<T>::load(sums + i * lanes);
          for (int64_t t = 0; t < tile_count; ++t) {
            multiply<n>(kTile, columns + (t * width + first) * kTile, kTile, 1,
                        panels + (t * padded_outs_ + out) * kTile, registers);
          }
          for (int i = 0; i < 2 * n; ++i) registers[i / 2][i % 2].store(sums + i * lanes);
        });
      });
    }
  });
}

template class PatchProducts<float>;
template class PatchProducts<double>;

}  // namespace paddle_mini
