// ImageLanesGradient: chunks of images, and the loops over their pixels.
#include "math/cpu/image_lanes_gradient.h"

#include <algorithm>

#include "math/cpu/image_lanes.h"
#include "math/cpu/image_lanes_rows.h"
#include "math/cpu/register_blocks.h"

namespace paddle_mini {
namespace {

// Sums of so many filters and taps stay in registers: those of some rows of `width` neighbouring taps, or of taps one by one.
template <class T>
constexpr int kMostTaps = many_registers<T> ? 6 : 3;
template <class T, int width>
constexpr int kRows = kMostTaps<T> / width;
template <class T, int width>
constexpr int kFilters = !many_registers<T> ? 3
                         : width == 5       ? 5
                                            : 4;

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

// sums[i][r * width + t] += the gradient of filter i times inputs[r][(t + x) % width]
template <int filters, int rows, int width, class T>
inline void add_pixel(const Vec<T> (&inputs)[rows][width], int x, const T* gradients, int64_t filter_step,
                      Vec<T> (&sums)[filters][rows * width]) {
#pragma GCC unroll 5
  for (int i = 0; i < filters; ++i) {
    const Vec<T> of = Vec<T>::load(gradients + i * filter_step);
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 5
      for (int t = 0; t < width; ++t)
        sums[i][r * width + t] = multiply_add(of, inputs[r][(t + x) % width], sums[i][r * width + t]);
    }
  }
}

// Adds the products of the gradients of filters with the inputs of rows of taps. Neighbouring taps read what the pixel before
// has read for the next one, so that each input is loaded once for `width` pixels.
template <int filters, int rows, int width, class T>
inline void add_products(const Pixels& pixels, const T* images, const Steps& image, const int64_t* offsets,
                         const T* gradients, const Steps& gradient, int64_t filter_step,
                         Vec<T> (&sums)[filters][rows * width]) {
  constexpr int lanes = Vec<T>::size, last = width - 1;
  for (int64_t group = 0; group < pixels.groups; ++group, images += image.group, gradients += gradient.group) {
    for (int64_t y = 0; y < pixels.rows; ++y) {
      const T *from = images + y * image.row, *out = gradients + y * gradient.row;
      Vec<T> inputs[rows][width];
      auto load = [&](int first, int end) {
#pragma GCC unroll 6
        for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 5
          for (int t = first; t < end; ++t) inputs[r][t] = Vec<T>::load(from + offsets[r] + t * lanes);
        }
      };
      load(0, last);
      int64_t x = 0;
      for (; x + width <= pixels.columns; x += width) {
#pragma GCC unroll 5
        for (int n = 0; n < width; ++n, from += image.column, out += gradient.column) {
#pragma GCC unroll 6
          for (int r = 0; r < rows; ++r) inputs[r][(n + last) % width] = Vec<T>::load(from + offsets[r] + last * lanes);
          add_pixel(inputs, n, out, filter_step, sums);
        }
      }
      for (; x < pixels.columns; ++x, from += image.column, out += gradient.column) {
        load(0, width);
        add_pixel(inputs, 0, out, filter_step, sums);
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
ImageLanesGradient<T>::ImageLanesGradient(KernelInit& init, const ConvolutionSizes& sizes, bool in_lanes)
    : s_(sizes), in_lanes_(in_lanes), images_(init, 0), gradients_(init, 0), sums_(init, 0) {
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
  const bool neighbours = w.stride == 1 && w.dilation == 1 && (w.window == 3 || w.window == 5);
  width_ = neighbours && w.window <= kMostTaps<T> ? w.window : 1;
  copies_ = !in_lanes_ || h.before > 0 || rows(h.out) > h.size || row_length_ != w.size;
  const int64_t channel = copies_ ? rows_ * row_length_ : s_.plane();
  for (int64_t c = 0; c < s_.in_channels; ++c) {
    for (int64_t i = 0; i < h.window; ++i) {
      for (int64_t j = 0; j < w.window; j += width_)
        offsets_.push_back((c * channel + i * h.dilation * row_length_ + j * w.dilation) * kLanes);
    }
  }
  const bool several = first_chunk_.groups < lane_groups() || band < h.out;
  images_.variable().tensor.shape[0] = copies_ ? first_chunk_.groups * elements(band, true) : 0;
  gradients_.variable().tensor.shape[0] = in_lanes_ ? 0 : first_chunk_.groups * elements(band, false);
  sums_.variable().tensor.shape[0] = several ? s_.groups * s_.out_channels * s_.taps() * kLanes : 0;
}

// Packs the images' channels with zeros for the padding, then those of the gradient; what has its lanes is read in place.
template <class T>
void ImageLanesGradient<T>::pack_chunk(KernelContext& context, const Chunk& chunk, const T* image,
                                       const T* out_gradient) {
  const WindowAxis &h = s_.height, &w = s_.width;
  const int64_t ins = copies_ ? s_.groups * s_.in_channels : 0, rows = chunk.end_y - chunk.y;
  const int64_t outs = in_lanes_ ? 0 : s_.groups * s_.out_channels;
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
        const int64_t after = row_length_ - w.before - w.size, at = c * s_.plane() + first * w.size;
        const T* from = image + n * s_.image_size();
        if (in_lanes_) image_lanes::copy_rows(from + at * kLanes, end - first, w.size, w.before, after, to);
        else image_lanes::pack_rows(from + at, s_.image_size(), images, end - first, w.size, w.before, after, to);
        image_lanes::clear(to + (end - first) * row_length_ * kLanes, (bottom - end) * row_length_ * kLanes);
      } else {
        const int64_t at = (c - ins) * s_.pixels() + chunk.y * w.out;
        image_lanes::pack_run(out_gradient + n * s_.out_size() + at, s_.out_size(), images, rows * w.out,
                              gradients_.data() + (group * outs + c - ins) * out_size);
      }
    }
  });
}

// Adds a chunk's products to the sums; those of the last one are complete.
template <class T>
template <int width>
void ImageLanesGradient<T>::add_chunk(KernelContext& context, const Chunk& chunk, bool is_first, bool is_last,
                                      const T* image, const T* out_gradient, T* filter_gradient) {
  const int64_t outs = s_.out_channels, rows = s_.taps() / width, columns = s_.width.out;
  const int64_t out_blocks = (outs + kFilters<T, width> - 1) / kFilters<T, width>;
  const int64_t row_blocks = (rows + kRows<T, width> - 1) / kRows<T, width>;
  const double products = static_cast<double>(chunk.groups * (chunk.end_y - chunk.y) * columns * kLanes) *
                          kFilters<T, width> * kRows<T, width> * width;
  parallel_for(
      context, {s_.groups * out_blocks * row_blocks, flops_cost(2 * products)}, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t group = i / row_blocks / out_blocks, block = i / row_blocks % out_blocks, part = i % row_blocks;
          const int64_t out = outs * block / out_blocks, row = rows * part / row_blocks;
          const auto out_count = static_cast<int>(outs * (block + 1) / out_blocks - out);
          const auto row_count = static_cast<int>(rows * (part + 1) / row_blocks - row);
          with_constant<kFilters<T, width>>(out_count, [&](auto out_constant) {
            with_constant<kRows<T, width>>(row_count, [&](auto row_constant) {
              add_block<decltype(out_constant)::value, decltype(row_constant)::value, width>(
                  chunk, {group, out, row}, is_first, is_last, image, out_gradient, filter_gradient);
            });
          });
        }
      });
}

template <class T>
template <int filters, int rows, int width>
void ImageLanesGradient<T>::add_block(const Chunk& chunk, const Block& block, bool is_first, bool is_last,
                                      const T* image, const T* out_gradient, T* filter_gradient) {
  constexpr int count = rows * width;
  const int64_t outs = s_.out_channels, columns = s_.width.out;
  const int64_t in_size = s_.in_channels * (copies_ ? rows_ * row_length_ : s_.plane()) * kLanes,
                out_size = (in_lanes_ ? s_.pixels() : first_chunk_.end_y * columns) * kLanes;
  const T* gradients =
      in_lanes_ ? out_gradient + (chunk.group * s_.out_size() + chunk.y * columns) * kLanes : gradients_.data();
  const int64_t above = chunk.y * s_.height.stride * row_length_;
  const T* images = copies_ ? images_.data() : image + (chunk.group * s_.image_size() + above) * kLanes;
  const Pixels pixels{chunk.groups, chunk.end_y - chunk.y, columns};
  const Steps step{s_.groups * in_size, s_.height.stride * row_length_ * kLanes, s_.width.stride * kLanes},
      gradient{s_.groups * outs * out_size, columns * kLanes, kLanes};
  const int64_t first = block.group * outs + block.out, at = first * s_.taps() + block.row * width;
  Vec<T> sums[filters][count];
  T* kept = is_first && is_last ? nullptr : sums_.data() + at * kLanes;
#pragma GCC unroll 5
  for (int f = 0; f < filters; ++f) {
#pragma GCC unroll 6
    for (int t = 0; t < count; ++t)
      sums[f][t] = is_first ? Vec<T>(T(0)) : Vec<T>::load(kept + (f * s_.taps() + t) * kLanes);
  }
  add_products<filters, rows, width>(pixels, images + block.group * in_size, step, offsets_.data() + block.row,
                                     gradients + first * out_size, gradient, out_size, sums);
  T* to = filter_gradient + at;
#pragma GCC unroll 5
  for (int f = 0; f < filters; ++f) {
#pragma GCC unroll 6
    for (int t = 0; t < count; ++t) {
      if (is_last) to[f * s_.taps() + t] = sum_of_lanes(sums[f][t]);
      else sums[f][t].store(kept + (f * s_.taps() + t) * kLanes);
    }
  }
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
      const bool is_first = group == 0 && y == 0;
      if (width_ == 1) add_chunk<1>(context, chunk, is_first, is_last, image, out_gradient, filter_gradient);
      else if (width_ == 3) add_chunk<3>(context, chunk, is_first, is_last, image, out_gradient, filter_gradient);
      else if constexpr (kMostTaps<T> >= 5)
        add_chunk<5>(context, chunk, is_first, is_last, image, out_gradient, filter_gradient);
    }
  }
}

template class ImageLanesGradient<float>;
template class ImageLanesGradient<double>;

}  // namespace paddle_mini
