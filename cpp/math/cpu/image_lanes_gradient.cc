// ImageLanesGradient: chunks of images, and the loops over their pixels.
#include "math/cpu/image_lanes_gradient.h"

#include <algorithm>

#include "math/cpu/image_lanes.h"
#include "math/cpu/image_lanes_rows.h"
#include "math/cpu/register_blocks.h"

namespace paddle_mini {
namespace {

template <class T>
constexpr int kMostFilters = many_registers<T> ? 4 : 3;
template <class T>
constexpr int kMostTaps = many_registers<T> ? 6 : 3;  // sums of so many filters and taps stay in registers

constexpr int64_t kChunkBytes = 3 << 19;  // images and gradients that stay in the L2 cache
constexpr int64_t kSumBytes = 1 << 24;  // kept between chunks; more take longer to read than idle lanes

// Pixels of a chunk: rows of columns, of several groups of lanes.
struct Pixels {
  int64_t groups, rows, columns;
};
// From one group of lanes, row, and column to the next.
struct Steps {
  int64_t group, row, column;
};

// sums[i][t] += gradients of filter i times the inputs of tap t
template <int filters, int taps, class T>
inline void add_products(const Pixels& pixels, const T* images, const Steps& image, const int64_t* offsets,
                         const T* gradients, const Steps& gradient, int64_t filter_step,
                         Vec<T> (&sums)[filters][taps]) {
  for (int64_t group = 0; group < pixels.groups; ++group, images += image.group, gradients += gradient.group) {
    for (int64_t y = 0; y < pixels.rows; ++y) {
      const T *from = images + y * image.row, *out = gradients + y * gradient.row;
      for (int64_t x = 0; x < pixels.columns; ++x, from += image.column, out += gradient.column) {
        Vec<T> of[filters];
#pragma GCC unroll 4
        for (int i = 0; i < filters; ++i) of[i] = Vec<T>::load(out + i * filter_step);
#pragma GCC unroll 12
        for (int t = 0; t < taps; ++t) {
          const Vec<T> input = Vec<T>::load(from + offsets[t]);
#pragma GCC unroll 4
          for (int i = 0; i < filters; ++i) sums[i][t] = multiply_add(of[i], input, sums[i][t]);
        }
      }
    }
  }
}

}  // namespace

template <class T>
bool ImageLanesGradient<T>::fits(const ConvolutionSizes& s) {
  return ImageLanes<T>::fits(s) && s.groups * s.out_channels * s.taps() * kLanes * int64_t{sizeof(T)} <= kSumBytes;
}

template <class T>
ImageLanesGradient<T>::ImageLanesGradient(KernelInit& init, const ConvolutionSizes& sizes)
    : s_(sizes), images_(init, 0), gradients_(init, 0), sums_(init, 0) {
  const WindowAxis &h = s_.height, &w = s_.width;
  const int64_t last = (w.out - 1) * w.stride - w.before + (w.window - 1) * w.dilation;
  row_length_ = w.before + w.size + std::max<int64_t>(last - w.size + 1, 0);
  auto rows = [&](int64_t band) { return (band - 1) * h.stride + (h.window - 1) * h.dilation + 1; };
  auto elements = [&](int64_t band, bool images) {
    return s_.groups * kLanes * (images ? s_.in_channels * rows(band) * row_length_ : s_.out_channels * band * w.out);
  };
  int64_t band = std::max<int64_t>(h.out, 1);
  auto bytes = [&] { return (elements(band, true) + elements(band, false)) * int64_t{sizeof(T)}; };
  while (band > 1 && bytes() > kChunkBytes) band = (band + 1) / 2;
  first_chunk_ = {0, std::clamp<int64_t>(kChunkBytes / std::max<int64_t>(bytes(), 1), 1, lane_groups()), 0, band};
  rows_ = rows(band);
  for (int64_t c = 0; c < s_.in_channels; ++c) {
    for (int64_t i = 0; i < h.window; ++i) {
      for (int64_t j = 0; j < w.window; ++j)
        offsets_.push_back(((c * rows_ + i * h.dilation) * row_length_ + j * w.dilation) * kLanes);
    }
  }
  const bool several = first_chunk_.groups < lane_groups() || band < h.out;
  images_.variable().tensor.shape[0] = first_chunk_.groups * elements(band, true);
  gradients_.variable().tensor.shape[0] = first_chunk_.groups * elements(band, false);
  sums_.variable().tensor.shape[0] = several ? s_.groups * s_.out_channels * s_.taps() * kLanes : 0;
}

// Packs the images' channels with zeros for the padding, then those of the gradient.
template <class T>
void ImageLanesGradient<T>::pack_chunk(KernelContext& context, const Chunk& chunk, const T* image,
                                       const T* out_gradient) {
  const WindowAxis &h = s_.height, &w = s_.width;
  const int64_t ins = s_.groups * s_.in_channels, outs = s_.groups * s_.out_channels, rows = chunk.end_y - chunk.y;
  const int64_t in_size = rows_ * row_length_ * kLanes, out_size = first_chunk_.end_y * w.out * kLanes;
  const int64_t top = h.first(chunk.y), bottom = h.first(chunk.end_y - 1) + (h.window - 1) * h.dilation + 1;
  const int64_t first = std::clamp<int64_t>(top, 0, h.size), end = std::clamp<int64_t>(bottom, first, h.size);
  const LoopSize size{chunk.groups * (ins + outs), bytes_cost(2.0 * sizeof(T)) * static_cast<double>(in_size)};
  parallel_for(context, size, [&](int64_t begin, int64_t stop) {
    for (int64_t i = begin; i < stop; ++i) {
      const int64_t group = i / (ins + outs), c = i % (ins + outs), n = (chunk.group + group) * kLanes;
      const int64_t images = std::min(kLanes, s_.images - n);
      if (c < ins) {
        T* to = images_.data() + (group * ins + c) * in_size;
        const int64_t above = std::min(first, bottom) - top;
        image_lanes::clear(to, above * row_length_ * kLanes);
        to += above * row_length_ * kLanes;
        image_lanes::pack_rows(image + n * s_.image_size() + c * s_.plane() + first * w.size, s_.image_size(), images,
                               end - first, w.size, w.before, row_length_ - w.before - w.size, to);
        image_lanes::clear(to + (end - first) * row_length_ * kLanes, (bottom - end) * row_length_ * kLanes);
      } else {
        image_lanes::pack_run(out_gradient + n * s_.out_size() + (c - ins) * s_.pixels() + chunk.y * w.out,
                              s_.out_size(), images, rows * w.out,
                              gradients_.data() + (group * outs + c - ins) * out_size);
      }
    }
  });
}

// Adds a chunk's products to the sums; those of the last one are complete.
template <class T>
void ImageLanesGradient<T>::add_chunk(KernelContext& context, const Chunk& chunk, bool is_first, bool is_last,
                                      T* filter_gradient) {
  const int64_t outs = s_.out_channels, taps = s_.taps(), columns = s_.width.out;
  const int64_t out_blocks = (outs + kMostFilters<T> - 1) / kMostFilters<T>,
                tap_blocks = (taps + kMostTaps<T> - 1) / kMostTaps<T>;
  const int64_t in_size = s_.in_channels * rows_ * row_length_ * kLanes,
                out_size = first_chunk_.end_y * columns * kLanes;
  const Pixels pixels{chunk.groups, chunk.end_y - chunk.y, columns};
  const Steps image{s_.groups * in_size, s_.height.stride * row_length_ * kLanes, s_.width.stride * kLanes},
      gradient{s_.groups * outs * out_size, columns * kLanes, kLanes};
  const double products =
      static_cast<double>(pixels.groups * pixels.rows * columns * kLanes) * kMostFilters<T> * kMostTaps<T>;
  parallel_for(
      context, {s_.groups * out_blocks * tap_blocks, flops_cost(2 * products)}, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t group = i / tap_blocks / out_blocks, block = i / tap_blocks % out_blocks, part = i % tap_blocks;
          const int64_t out = outs * block / out_blocks, tap = taps * part / tap_blocks;
          const auto out_count = static_cast<int>(outs * (block + 1) / out_blocks - out);
          const auto tap_count = static_cast<int>(taps * (part + 1) / tap_blocks - tap);
          with_constant<kMostFilters<T>>(out_count, [&](auto out_constant) {
            with_constant<kMostTaps<T>>(tap_count, [&](auto tap_constant) {
              constexpr int filters = decltype(out_constant)::value, count = decltype(tap_constant)::value;
              Vec<T> sums[filters][count];
              T* kept = is_first && is_last ? nullptr : sums_.data() + ((group * outs + out) * taps + tap) * kLanes;
#pragma GCC unroll 4
              for (int f = 0; f < filters; ++f) {
#pragma GCC unroll 12
                for (int t = 0; t < count; ++t)
                  sums[f][t] = is_first ? Vec<T>(T(0)) : Vec<T>::load(kept + (f * taps + t) * kLanes);
              }
              add_products<filters, count>(pixels, images_.data() + group * in_size, image, offsets_.data() + tap,
                                           gradients_.data() + (group * outs + out) * out_size, gradient, out_size,
                                           sums);
              T* to = filter_gradient + (group * outs + out) * taps + tap;
#pragma GCC unroll 4
              for (int f = 0; f < filters; ++f) {
#pragma GCC unroll 12
                for (int t = 0; t < count; ++t) {
                  if (is_last) to[f * taps + t] = sum_of_lanes(sums[f][t]);
                  else sums[f][t].store(kept + (f * taps + t) * kLanes);
                }
              }
            });
          });
        }
      });
}

// The chunks are one after another, in an order that does not depend on the number of threads.
template <class T>
void ImageLanesGradient<T>::run(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient) {
  const int64_t height = std::max<int64_t>(s_.height.out, 1);
  for (int64_t group = 0; group < lane_groups(); group += first_chunk_.groups) {
    for (int64_t y = 0; y < height; y += first_chunk_.end_y) {
      const Chunk chunk{group, std::min(first_chunk_.groups, lane_groups() - group), y,
                        std::min(y + first_chunk_.end_y, height)};
      pack_chunk(context, chunk, image, out_gradient);
      const bool is_last = group + chunk.groups == lane_groups() && chunk.end_y == height;
      add_chunk(context, chunk, group == 0 && y == 0, is_last, filter_gradient);
    }
  }
}

template class ImageLanesGradient<float>;
template class ImageLanesGradient<double>;

}  // namespace paddle_mini
