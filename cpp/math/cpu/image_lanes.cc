// ImageLanes: copies between images and lanes, and the loops over channels, taps and pixels.
#include "math/cpu/image_lanes.h"

#include <algorithm>

#include "math/cpu/image_lanes_block.h"
#include "math/cpu/image_lanes_rows.h"

namespace paddle_mini {
namespace {

using namespace image_lanes;

constexpr int64_t kBandBytes = 1 << 19;  // inputs of a band stay in the L2 cache
constexpr int64_t kStrip = 64;  // pixels of a strip, whose results stay in the L1 cache

}  // namespace

template <class T>
bool ImageLanes<T>::fits(const ConvolutionSizes& s) {
  return 4 * s.images >= 3 * ((s.images + kLanes - 1) / kLanes * kLanes) && s.images > 0;
}

// Outputs of a gradient are the elements of the image: those that are a stride apart read the same taps.
template <class T>
typename ImageLanes<T>::Block ImageLanes<T>::block_of(const WindowAxis& a, bool gradient, int64_t first, int count) {
  Block block{first, gradient ? a.stride : 1, count};
  const int64_t size = gradient ? a.out : a.size, in_step = gradient ? 1 : a.stride;
  for (int64_t tap = 0; tap < a.window; ++tap) {
    const int64_t place = gradient ? first + a.before - tap * a.dilation : a.first(first) + tap * a.dilation;
    if (gradient && place % a.stride != 0) continue;
    const int64_t at = gradient ? place / a.stride : place, last = at + (count - 1) * in_step;
    if (last < 0 || at >= size) continue;
    block.taps.push_back({at, tap});
    block.begin = std::min(block.begin, at), block.end = std::max(block.end, last + 1);
  }
  return block;
}

// The blocks, of at most so many outputs, that take the least time: at a border, small ones skip taps that read only zeros.
template <class T>
typename ImageLanes<T>::Axis ImageLanes<T>::axis_of(const WindowAxis& a, bool gradient, int most) {
  constexpr int kTap = 1;  // the time of a tap beside that of its pixels, in pixels; sums of one wait for each other
  Axis axis{gradient ? a.out : a.size, gradient ? 1 : a.stride, gradient ? a.size : a.out, {}};
  const int64_t step = gradient ? a.stride : 1;
  for (int64_t first = 0; first < std::min(step, axis.outs); ++first) {
    const int64_t outs = (axis.outs - first + step - 1) / step;
    std::vector<int64_t> least(static_cast<size_t>(outs + 1), 0);  // by the end of a block
    std::vector<Block> last(least.size());
    for (int64_t end = 1; end <= outs; ++end) {
      least[end] = INT64_MAX;
      for (int count = 1; count <= std::min<int64_t>(most, end); ++count) {
        Block block = block_of(a, gradient, first + (end - count) * step, count);
        const int64_t time = static_cast<int64_t>(block.taps.size()) * (std::max(count, 2) + kTap);
        if (least[end - count] + time >= least[end]) continue;
        least[end] = least[end - count] + time, last[end] = std::move(block);
      }
    }
    for (int64_t end = outs; end > 0; end -= axis.blocks.back().count) {
      axis.blocks.push_back(last[end]);
      for (const Tap& tap : last[end].taps) {
        axis.before = std::max(axis.before, -tap.input);
        axis.after = std::max(axis.after, tap.input + (last[end].count - 1) * axis.in_step + 1 - axis.size);
      }
    }
  }
  std::sort(axis.blocks.begin(), axis.blocks.end(), [](const Block& a, const Block& b) { return a.first < b.first; });
  return axis;
}

template <class T>
ImageLanes<T>::ImageLanes(KernelInit& init, const ConvolutionSizes& s, bool gradient, bool in_lanes)
    : images_(s.images), groups_(s.groups), in_lanes_(in_lanes), height_(axis_of(s.height, gradient, 1)),
      width_(axis_of(s.width, gradient, kPixels<T>)), channels_(gradient ? s.out_channels : s.in_channels),
      outs_(gradient ? s.in_channels : s.out_channels), window_(s.height.window * s.width.window),
      window_width_(s.width.window), factors_(init, groups_ * outs_ * channels_ * window_), rows_(init, 0),
      results_(init, 0) {
  out_step_ = gradient ? window_ : s.taps(), channel_step_ = gradient ? s.taps() : window_;
  choose_band();
  place_taps();
  copies_ = !in_lanes_ || width_.length() != width_.size;
  rows_.resize(copies_ ? packed_size() : 0);
  results_.resize(results_size());
}

// The rows of the image that the rows [y, end_y) of results read.
template <class T>
std::pair<int64_t, int64_t> ImageLanes<T>::inputs_of(int64_t y, int64_t end_y) const {
  int64_t first = INT64_MAX, end = 0;
  for (; y < end_y; ++y) first = std::min(first, height_.blocks[y].begin), end = std::max(end, height_.blocks[y].end);
  return {std::min(first, end), end};
}

template <class T>
int64_t ImageLanes<T>::packed_size() const {
  int64_t most = 0;
  for (int64_t y = 0; y < height_.outs; y += band_) {
    const auto [first, end] = inputs_of(y, std::min(y + band_, height_.outs));
    most = std::max(most, end - first);
  }
  return channels_ * most * width_.length() * kLanes;
}

template <class T>
int64_t ImageLanes<T>::results_size() const {
  return kFilters<T> * strip_ * width_.outs * kLanes;
}

template <class T>
void ImageLanes<T>::choose_band() {
  band_ = std::max<int64_t>(height_.outs, 1);
  while (band_ > 1 && packed_size() * int64_t{sizeof(T)} > kBandBytes) band_ = (band_ + 1) / 2;
  strip_ = std::clamp<int64_t>(kStrip / std::max<int64_t>(width_.outs, 1), 1, band_);
}

// The sign of the step between the inputs of neighbouring taps, if it is that between those of neighbouring pixels; or 0.
template <class T>
int ImageLanes<T>::order_of(const std::vector<Tap>& taps, int64_t step) {
  if (taps.size() < 2) return 0;
  const int order = taps[1].input < taps[0].input ? -1 : 1;
  for (size_t i = 1; i < taps.size(); ++i)
    if (taps[i].input - taps[i - 1].input != order * step || taps[i].factor != taps[i - 1].factor + 1) return 0;
  return order;
}

// Turns taps and elements of the image, which axis_of has found, into places in packed factors and inputs.
template <class T>
void ImageLanes<T>::place_taps() {
  for (Block& row : height_.blocks) {
    for (Tap& tap : row.taps) tap.input *= width_.length() * kLanes, tap.factor *= window_width_;
  }
  for (Block& block : width_.blocks) {
    for (Tap& tap : block.taps) tap.input = (width_.before + tap.input) * kLanes;
    block.order = order_of(block.taps, width_.in_step * kLanes);
  }
}

// [group, outs in blocks, channels, window]: factors of a tap adjacent in a block
template <class T>
void ImageLanes<T>::pack_factors(KernelContext& context, const T* filter, T* to) const {
  const int64_t count = channels_ * window_;
  const double cost = bytes_cost(16.0 * sizeof(T)) * static_cast<double>(count) * kFilters<T>;
  each_block(context, groups_, outs_, kFilters<T>, cost, [&](int64_t group, int64_t first, int filters) {
    const T* start = filter + group * outs_ * count + first * out_step_;
    T* at = to + (group * outs_ + first) * count;
    for (int64_t c = 0; c < channels_; ++c) {
      for (int64_t tap = 0; tap < window_; ++tap) {
        for (int i = 0; i < filters; ++i) *at++ = start[i * out_step_ + c * channel_step_ + tap];
      }
    }
  });
}

// The rows that a band reads: where they are, or copied to `to`.
template <class T>
const T* ImageLanes<T>::rows_of_band(const Part& part, const T* image, T* to) const {
  const auto [first, end] = inputs_of(part.y, part.end_y);
  const int64_t plane = height_.size * width_.size, image_step = groups_ * channels_ * plane;
  const T* copied = to;
  if (in_lanes_) {
    image += part.image * image_step + (part.group * channels_ * plane + first * width_.size) * kLanes;
    if (!copies_) return image;
    for (int64_t c = 0; c < channels_; ++c, image += plane * kLanes, to += (end - first) * width_.length() * kLanes)
      copy_rows(image, end - first, width_.size, width_.before, width_.after, to);
    return copied;
  }
  image += part.image * image_step + part.group * channels_ * plane + first * width_.size;
  for (int64_t c = 0; c < channels_; ++c, image += plane, to += (end - first) * width_.length() * kLanes)
    pack_rows(image, image_step, part.images, end - first, width_.size, width_.before, width_.after, to);
  return copied;
}

template <class T>
void ImageLanes<T>::multiply_band(StoredParts<T>& stored, const Part& part, const T* rows, const T* factors, T* results,
                                  T* out) const {
  const auto [first_row, end_row] = inputs_of(part.y, part.end_y);
  const int64_t row_step = width_.length() * kLanes;
  const int64_t channel_step = (copies_ ? end_row - first_row : height_.size) * row_step;
  const int64_t plane = height_.outs * width_.outs, image_step = groups_ * outs_ * plane;
  const T* inputs = rows - first_row * row_step;
  each_block(outs_, kFilters<T>, [&](int64_t first, int filters) {
    const T* of_block = factors + (part.group * outs_ + first) * channels_ * window_;
    for (int64_t top = part.y; top < part.end_y; top += strip_) {
      const int64_t bottom = std::min(top + strip_, part.end_y), count = (bottom - top) * width_.outs;
      T* in_place = out + part.image * image_step + ((part.group * outs_ + first) * plane + top * width_.outs) * kLanes;
      T* begin = in_lanes_ ? in_place : results;
      const int64_t filter_step = (in_lanes_ ? plane : count) * kLanes;
      for (int64_t y = top; y < bottom; ++y) {
        for (const Block& block : width_.blocks) {
          const bool backwards = block.order < 0;  // from the last pixel to the first
          const int64_t in_step = width_.in_step * kLanes, step = block.step * kLanes, last = block.count - 1;
          const Operands<T, std::vector<Tap>> operands{channels_,    height_.blocks[y].taps,
                                                       block.taps,   inputs + (backwards ? last * in_step : 0),
                                                       channel_step, backwards ? -in_step : in_step,
                                                       of_block,     window_};
          const Results<T> to{begin + ((y - top) * width_.outs + block.first) * kLanes + (backwards ? last * step : 0),
                              filter_step, backwards ? -step : step};
          multiply_block(operands, filters, block.count, block.order != 0, to);
        }
      }
      for (int i = 0; i < filters; ++i) {
        if (in_lanes_) {
          stored.add(in_place + i * filter_step, count * kLanes);
          continue;
        }
        T* to = out + part.image * image_step + (part.group * outs_ + first + i) * plane + top * width_.outs;
        unpack_run(results + i * count * kLanes, count, image_step, part.images, to);
        for (int64_t n = 0; n < part.images; ++n) stored.add(to + n * image_step, count);
      }
    }
  });
}

template <class T>
void ImageLanes<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  pack_factors(context, filter, factors_.data());
  const int64_t bands = (height_.outs + band_ - 1) / band_, items = (images_ + kLanes - 1) / kLanes * groups_ * bands;
  const double flops =
      2.0 * static_cast<double>(kLanes * band_ * width_.outs) * static_cast<double>(outs_ * channels_ * window_);
  const LoopSize size{items, flops_cost(flops), 1, rows_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    StoredParts<T> stored(context);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i / bands / groups_ * kLanes, y = i % bands * band_;
      const Part part{first, std::min(kLanes, images_ - first), i / bands % groups_, y,
                      std::min(y + band_, height_.outs)};
      const T* rows = rows_of_band(part, image, rows_.data(lane));
      multiply_band(stored, part, rows, factors_.data(), results_.data(lane), out);
    }
  });
}

template class ImageLanes<float>;
template class ImageLanes<double>;

}  // namespace paddle_mini
