// PatchProducts: the loops that multiply filters with the panels of tiles.
#include "math/cpu/patch_products.h"

#include "math/copy.h"
#include "math/cpu/register_blocks.h"

namespace paddle_mini {
namespace {

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

}  // namespace

template <class T>
PatchProducts<T>::PatchProducts(KernelInit& init, const ConvolutionSizes& sizes, const ConvolutionResults& results)
    : s_(sizes), tiles_(sizes),
      filter_(init, results.by_input || results.by_filter ? nullptr : "Filter", "filters by blocks of rows",
              {s_.groups, s_.out_channels, s_.taps()}, s_.groups * s_.out_channels * s_.taps()),
      columns_(init, tiles_.at_once() * kTile * s_.taps()),
      outs_(init, results.by_input ? tiles_.at_once() * kTile * s_.out_channels : 0) {}

// Calls f(group, tap, end tap, lane), split by groups and by input channels, whose taps and elements of the image are
// disjoint.
template <class T>
template <class F>
void PatchProducts<T>::each_group_and_channels(KernelContext& context, F f) {
  const int64_t window = s_.height.window * s_.width.window;
  const int64_t slices = slices_per_item(s_.groups, 2 * context.threads, s_.in_channels);
  const double flops =
      2.0 * static_cast<double>(tiles_.count() * kTile * s_.taps()) * static_cast<double>(s_.out_channels);
  const LoopSize size{s_.groups * slices, flops_cost(flops / static_cast<double>(slices)), 1, columns_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t slice = i % slices;
      f(i / slices, s_.in_channels * slice / slices * window, s_.in_channels * (slice + 1) / slices * window, lane);
    }
  });
}

template <class T>
void PatchProducts<T>::pack_filters(KernelContext& context, const T* filter, T* to) const {
  const int64_t taps = s_.taps(), outs = s_.out_channels;
  const double cost = bytes_cost(16.0 * sizeof(T)) * static_cast<double>(taps) * kMostRows<T>;
  each_block(context, s_.groups, outs, kMostRows<T>, cost, [&](int64_t group, int64_t first, int count) {
    int64_t at = (group * outs + first) * taps;
    pack_block(filter + at, taps, 1, taps, count, to + at);
  });
}

// Into how many slices the output channels are cut, if tiles alone leave threads idle: each slice packs the tiles again.
template <class T>
int64_t PatchProducts<T>::slices_of_outputs(int threads) const {
  const int64_t most = std::max<int64_t>(s_.out_channels / (2 * kMostRows<T>), 1);
  int64_t best = 1, least = INT64_MAX;
  for (int64_t slices = 1; slices <= std::min<int64_t>(most, 4 * threads); ++slices) {
    int64_t rounds = (tiles_.groups() * slices + threads - 1) / threads;
    int64_t time = rounds * ((s_.out_channels + slices - 1) / slices + kForwardCopy);
    if (time < least) least = time, best = slices;
  }
  return best;
}

// out = filter columns
template <class T>
void PatchProducts<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  const int64_t taps = s_.taps(), outs = s_.out_channels;
  const T* all = filter_.get(context, [&](T* to) { pack_filters(context, filter, to); });
  for (int64_t group = 0; group < s_.groups; ++group) {
    const T* packed = all + group * outs * taps;
    const int64_t slices = slices_of_outputs(context.threads);
    const double flops = 2.0 * static_cast<double>(tiles_.at_once() * kTile * taps) * static_cast<double>(outs);
    const LoopSize size{tiles_.groups() * slices, flops_cost(flops) / static_cast<double>(slices), 1, columns_.lanes()};
    parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
      StoredParts<T> stored(context);
      for (int64_t item = begin, last; item < end; item = last) {
        last = std::min(end, (item / slices + 1) * slices);
        multiply_slices(stored, {item / slices, item % slices, (last - 1) % slices, slices}, image, group, packed,
                        columns_.data(lane), out);
      }
    });
  }
}

// Packs a group of tiles, and multiplies it with the filters of some slices.
template <class T>
void PatchProducts<T>::multiply_slices(StoredParts<T>& stored, const Slices& slices, const T* image, int64_t group,
                                       const T* filter, T* columns, T* out) const {
  const int64_t taps = s_.taps(), outs = s_.out_channels;
  alignas(64) T rows[kMostRows<T> * kTile];
  tiles_.each_group(slices.tiles, slices.tiles + 1, [&](const auto* tiles, int64_t tile_count) {
    for (int64_t t = 0; t < tile_count; ++t)
      tiles_.pack_columns(image, 0, taps, group, tiles[t], columns + t * taps * kTile);
    each_block(outs, kMostRows<T>, [&](int64_t first, int count) {
      const int64_t slice = first * slices.count / outs;
      if (slice < slices.first || slice > slices.last) return;
      for (int64_t t = 0; t < tile_count; ++t) {
        multiply_panel(count, taps, filter + first * taps, columns + t * taps * kTile, rows);
        tiles_.store_outputs(rows, first, count, group, tiles[t], out);
      }
      add_results(stored, slices.tiles * tiles_.at_once() * kTile, tile_count * kTile, group * outs + first, count,
                  out);
    });
  });
}

// Adds output pixels, counted through all images, of some channels, which are complete.
template <class T>
void PatchProducts<T>::add_results(StoredParts<T>& stored, int64_t pixel, int64_t pixels, int64_t channel, int count,
                                   const T* out) const {
  if (!stored.are_wanted()) return;
  const int64_t plane = s_.pixels(), end = std::min(pixel + pixels, s_.images * plane);
  for (int64_t length; pixel < end; pixel += length) {
    length = std::min(end - pixel, plane - pixel % plane);
    const T* at = out + pixel / plane * s_.out_size() + channel * plane + pixel % plane;
    for (int c = 0; c < count; ++c) stored.add(at + c * plane, length);
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
    T *packed = filter_.scratch() + (group * taps + first_tap) * outs, *panels = outs_.data(lane);
    each_block(end_tap - first_tap, kMostRows<T>, [&](int64_t first, int count) {
      pack_block(filter + group * outs * taps + first_tap + first, 1, taps, outs, count, packed + first * outs);
    });
    tiles_.each_group(0, tiles_.groups(), [&](const auto* tiles, int64_t tile_count) {
      for (int64_t t = 0; t < tile_count; ++t) {
        tiles_.pack_outputs(out_gradient, group, tiles[t], panels + t * outs * kTile);
      }
      // Tile by tile, so that the order of the sums does not depend on the blocks.
      for (int64_t t = 0; t < tile_count; ++t) {
        each_block(end_tap - first_tap, kMostRows<T>, [&](int64_t first, int count) {
          multiply_panel(count, outs, packed + first * outs, panels + t * outs * kTile, rows);
          tiles_.add_columns(rows, first_tap + first, count, group, tiles[t], image_gradient);
        });
      }
    });
  });
}

template class PatchProducts<float>;
template class PatchProducts<double>;

}  // namespace paddle_mini
