// PointwiseConvolution: the loops over filters, channels and pixels.
#include "math/cpu/pointwise.h"

#include "math/cpu/register_blocks.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

constexpr int64_t kDepth = 256;  // channels of a segment, whose pixels stay in the L2 cache
constexpr int64_t kLeastPixels = 512, kMostPixels = 1024;  // pixels in a part, so that a block's outputs stay in L1
// Filters that pay for a copy of a small image, whose rows are in cache but each in another page.
constexpr int64_t kLeastForSmall = 128, kSmallImage = 256;
// Filters or channels that pay for one of the images of a batch, which come from memory.
constexpr int64_t kLeastForCopy = 64;
constexpr int64_t kSliceBytes = 1 << 19;  // filters that stay in the L2 cache while planes are read

template <class T>
constexpr int64_t kTile = 2 * Vec<T>::size;

// The outputs of a block of filters: rows `plane` apart. add: whether they have the sums of earlier channels. steps: what
// follows the sums, unless those of other channels do; `channel` is the number of the first row.
template <class T>
struct Outputs {
  T* first;
  int64_t plane;
  bool add;
  const LastSteps<T>* steps;
  int64_t channel;
};

// out = factors' pixels, where the factors are [count, rows], from pixel x of the outputs on. If `partial`, the last register
// has only `last` pixels. Prefetches the next tile's pixels and outputs, and the factors `ahead`, those of the next block.
template <int rows, int registers, bool partial, class T>
inline void multiply_tile(int64_t count, const T* factors, int64_t ahead, const T* image, int64_t step, int64_t last,
                          const Outputs<T>& outputs, int64_t x) {
  constexpr int lanes = Vec<T>::size;
  auto load = [last](const T* from, int n) {
    if (partial && n == registers - 1) return map_loop::load_part(from, last);
    return Vec<T>::load(from);
  };
  T* const out = outputs.first + x;
  const int64_t plane = outputs.plane;
  const bool add = outputs.add;
  Vec<T> sums[rows][registers];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int n = 0; n < registers; ++n) sums[i][n] = add ? load(out + i * plane + n * lanes, n) : Vec<T>(T(0));
  }
  for (int64_t k = 0; k < count; ++k, factors += rows, image += step) {
    Vec<T> pixels[registers];
#pragma GCC unroll 2
    for (int n = 0; n < registers; ++n) {
      pixels[n] = load(image + n * lanes, n);
      __builtin_prefetch(image + (registers + n) * lanes);
    }
    __builtin_prefetch(factors + ahead, 0, 2);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Vec<T> factor(factors[i]);
#pragma GCC unroll 2
      for (int n = 0; n < registers; ++n) sums[i][n] = multiply_add(factor, pixels[n], sums[i][n]);
    }
  }
  if (outputs.steps) outputs.steps->apply(sums, outputs.channel, 1, out, plane, load);
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int n = 0; n < registers; ++n) {
      T* to = out + i * plane + n * lanes;
      if (partial && n == registers - 1) map_loop::store_part(sums[i][n], to, last);
      else sums[i][n].store(to);
      __builtin_prefetch(to + registers * lanes, 1);
    }
  }
}

// The pixels of a segment's channels: the first tile, and the steps to the next channel and to the next tile.
template <class T>
struct Pixels {
  const T* first;
  int64_t channel, tile;
};

// `count` pixels of a block of filters.
template <int rows, class T>
void multiply_block(int64_t depth, const T* factors, int64_t ahead, const Pixels<T>& pixels, int64_t count,
                    const Outputs<T>& outputs) {
  constexpr int lanes = Vec<T>::size;
  const T* from = pixels.first;
  for (int64_t x = 0; x < count; x += kTile<T>, from += pixels.tile) {
    const int64_t left = count - x, step = pixels.channel;
    if (left >= kTile<T>) multiply_tile<rows, 2, false>(depth, factors, ahead, from, step, 0, outputs, x);
    else if (left > lanes) {
      multiply_tile<rows, 2, true>(depth, factors, ahead, from, step, left - lanes, outputs, x);
    } else multiply_tile<rows, 1, true>(depth, factors, ahead, from, step, left, outputs, x);
  }
}

// Copies `count` pixels of each channel to tiles [depth, tile].
template <class T>
Pixels<T> copy_pixels(const T* image, int64_t plane, int64_t depth, int64_t count, T* to) {
  constexpr int lanes = Vec<T>::size;
  const int64_t tile = depth * kTile<T>;
  for (int64_t k = 0; k < depth; ++k, image += plane) {
    T* at = to + k * kTile<T>;
    int64_t x = 0;
    for (; x + kTile<T> <= count; x += kTile<T>, at += tile) {
      Vec<T>::load(image + x).store(at);
      Vec<T>::load(image + x + lanes).store(at + lanes);
    }
    for (; x < count; x += lanes, at += lanes) {
      map_loop::load_part(image + x, std::min<int64_t>(count - x, lanes)).store(at);
    }
  }
  return {to, kTile<T>, tile};
}

}  // namespace

template <class T>
bool PointwiseConvolution<T>::fits(const ConvolutionSizes& s) {
  return s.is_pointwise() && s.pixels() > 0 && s.out_channels > 0;
}

template <class T>
PointwiseConvolution<T>::PointwiseConvolution(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order)
    : s_(sizes), order_(order), blocks_(parts_of(s_.out_channels, kMostRows<T>)),
      filter_(init, order.port, "filters by blocks of rows", {s_.groups, s_.out_channels, s_.taps(), order.tap},
              s_.groups * s_.out_channels * s_.taps()),
      copy_(init, 0) {
  const int64_t depth = std::clamp<int64_t>(s_.in_channels, 1, kDepth);
  const int64_t most = std::clamp<int64_t>((1 << 16) / depth, kLeastPixels, kMostPixels);
  parts_ = parts_of(s_.pixels(), most);
  copies_ = s_.images > 1 ? std::max(s_.out_channels, s_.in_channels) >= kLeastForCopy
                          : s_.out_channels >= kLeastForSmall && s_.pixels() <= kSmallImage;
  if (copies_) copy_.resize(depth * (most + kTile<T>));
}

// Slices of the filters: so many that one stays in the cache while all planes are read, and enough for all threads.
template <class T>
int64_t PointwiseConvolution<T>::slices(int threads) const {
  const int64_t planes = s_.images * s_.groups, bytes = s_.out_channels * s_.in_channels * int64_t{sizeof(T)};
  const int64_t by_bytes = s_.images > 1 ? parts_of(bytes, kSliceBytes) : 1;
  return std::min(blocks_, std::max(by_bytes, slices_per_item(planes * parts_, threads, blocks_)));
}

template <class T>
typename PointwiseConvolution<T>::Part PointwiseConvolution<T>::part(int64_t slice, int64_t slices, int64_t i) const {
  const int64_t tiles = parts_of(s_.pixels(), kTile<T>);
  return {blocks_ * slice / slices, blocks_ * (slice + 1) / slices, tiles * i / parts_ * kTile<T>,
          std::min(tiles * (i + 1) / parts_ * kTile<T>, s_.pixels())};
}

template <class T>
void PointwiseConvolution<T>::pack(KernelContext& context, const T* filter, T* to) const {
  const int64_t depth = s_.in_channels, outs = s_.out_channels;
  const double cost = bytes_cost(16.0 * sizeof(T)) * static_cast<double>(depth) * kMostRows<T>;
  each_block(context, s_.groups, outs, kMostRows<T>, cost, [&](int64_t group, int64_t first, int count) {
    const T* from = filter + group * outs * depth + first * order_.out;
    T* at = to + (group * outs + first) * depth;
    for (int64_t k = 0; k < depth; ++k) {
      for (int i = 0; i < count; ++i) *at++ = from[i * order_.out + k * order_.channel];
    }
  });
}

// The image and `out` begin at the plane, the filters at the group.
template <class T>
void PointwiseConvolution<T>::multiply(StoredParts<T>& stored, const LastSteps<T>& steps, const Part& part,
                                       const T* image, const T* filter, const Plane& to, T* copy) const {
  const int64_t depth = s_.in_channels, plane = s_.pixels();
  const int64_t segments = std::max<int64_t>(parts_of(depth, kDepth), 1);  // sums of no channel are zeros
  const int64_t each = s_.out_channels / blocks_, longer = s_.out_channels % blocks_, pixels = part.end - part.first;
  for (int64_t s = 0; s < segments; ++s) {
    const int64_t from = depth * s / segments, count = depth * (s + 1) / segments - from;
    const T* at = image + from * plane + part.first;
    const Pixels<T> read = copy ? copy_pixels(at, plane, count, pixels, copy) : Pixels<T>{at, plane, kTile<T>};
    for (int64_t b = part.first_block; b < part.end_block; ++b) {
      const int64_t row = b * each + std::min(b, longer);
      const int rows = static_cast<int>(each + (b < longer));
      const bool last = s + 1 == segments;
      const Outputs<T> outputs{to.out + row * plane + part.first, plane, s > 0,
                               last && steps.taken() ? &steps : nullptr, to.channel + row};
      with_constant<kMostRows<T>>(rows, [&](auto constant) {
        multiply_block<decltype(constant)::value>(count, filter + row * depth + from * rows, rows * depth, read, pixels,
                                                  outputs);
      });
      if (!last || !stored.are_wanted()) continue;
      for (int r = 0; r < rows; ++r) stored.add(outputs.first + r * plane, pixels);
    }
  }
}

template <class T>
void PointwiseConvolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  const int64_t planes = s_.images * s_.groups, count = planes * parts_, slices = this->slices(context.threads);
  const int64_t in_plane = s_.in_channels * s_.plane(), out_plane = s_.out_channels * s_.pixels();
  const T* all = filter_.get(context, [&](T* to) { pack(context, filter, to); });
  // Every slice copies.
  const bool copies = copies_ && (s_.images > 1 || s_.out_channels / slices >= kLeastForSmall);
  const LastSteps<T> steps(context, s_.pixels(), s_.groups * s_.out_channels);
  const double flops = 2.0 * static_cast<double>(out_plane) * static_cast<double>(s_.in_channels);
  const LoopSize size{slices * count, flops_cost(flops / static_cast<double>(parts_ * slices)), 1, copy_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    StoredParts<T> stored(context, steps.taken());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i % count / parts_, group = plane % s_.groups;
      multiply(stored, steps, part(i / count, slices, i % parts_), image + plane * in_plane,
               all + group * s_.out_channels * s_.in_channels, {out + plane * out_plane, group * s_.out_channels},
               copies ? copy_.data(lane) : nullptr);
    }
  });
}

template class PointwiseConvolution<float>;
template class PointwiseConvolution<double>;

}  // namespace paddle_mini
