// Patches to columns, products, and columns back to patches.
#include "math/convolution.h"

#include <algorithm>

#include "math/map.h"

namespace paddle_mini {
namespace {

// Columns of this many elements at once: they, and what the product reads besides, stay in the
// second-level cache, and products have a few hundred columns (measured on LeNet and ResNet sizes).
constexpr int64_t kColumnElements = 1 << 17, kEnoughColumns = 256;

int64_t images_together(const ConvolutionSizes& s) {
  int64_t pixels = std::max<int64_t>(s.pixels(), 1), taps = std::max<int64_t>(s.taps(), 1);
  int64_t fitting = std::max<int64_t>(kColumnElements / (pixels * taps), 1);
  int64_t wanted = (kEnoughColumns + pixels - 1) / pixels;
  return std::max<int64_t>(std::min({fitting, wanted, s.images}), 1);
}

bool is_plain(const WindowAxis& a) { return a.window == 1 && a.stride == 1 && a.before == 0 && a.after == 0; }

// Rows are often shorter than a register; a call for each would cost more than the copy.
template <class T>
inline void copy_row(T* to, const T* from, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int64_t j = 0; j < 8; ++j) to[i + j] = from[i + j];
  }
  for (; i < n; ++i) to[i] = from[i];
}

template <class T>
inline void add_row(T* to, const T* from, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int64_t j = 0; j < 8; ++j) to[i + j] += from[i + j];
  }
  for (; i < n; ++i) to[i] += from[i];
}

}  // namespace

template <class T>
Convolution<T>::Convolution(KernelInit& init, const ConvolutionSizes& sizes)
    : s_(sizes), together_(images_together(sizes)), plain_(is_plain(sizes.height) && is_plain(sizes.width) && together_ == 1),
      columns_(init, plain_ ? 0 : together_ * s_.taps() * s_.pixels()),
      outs_(init, together_ == 1 ? 0 : together_ * s_.out_channels * s_.pixels()) {}

template <class T>
template <class F>
void Convolution<T>::each_run(F f) const {
  for (int64_t first = 0; first < s_.images; first += together_) {
    for (int64_t group = 0; group < s_.groups; ++group) f(first, std::min(together_, s_.images - first), group);
  }
}

// Row (channel, i, j) of the matrix holds, for each pixel of each image, what the filter's tap (i, j) meets.
template <class T>
const T* Convolution<T>::columns_of(const T* image, int64_t first, int64_t count, int64_t group) {
  const WindowAxis &h = s_.height, &w = s_.width;
  int64_t channel_size = h.size * w.size;
  const T* channel = image + first * s_.image_size() + group * s_.in_channels * channel_size;
  if (plain_) return channel;
  T* to = columns_.data();
  for (int64_t c = 0; c < s_.in_channels; ++c, channel += channel_size) {
    for (int64_t i = 0; i < h.window; ++i) {
      int64_t y_begin = h.begin_of(i), y_end = h.end_of(i);
      for (int64_t j = 0; j < w.window; ++j) {
        int64_t x_begin = w.begin_of(j), x_end = w.end_of(j);
        for (int64_t n = 0; n < count; ++n) {
          const T* from = channel + n * s_.image_size() + w.first(0) + j * w.dilation;
          std::fill_n(to, y_begin * w.out, T(0));
          to += y_begin * w.out;
          for (int64_t y = y_begin; y < y_end; ++y, to += w.out) {
            const T* row = from + (h.first(y) + i * h.dilation) * w.size;
            for (int64_t x = 0; x < x_begin; ++x) to[x] = T(0);
            if (w.stride == 1) copy_row(to + x_begin, row + x_begin, x_end - x_begin);
            else for (int64_t x = x_begin; x < x_end; ++x) to[x] = row[x * w.stride];
            for (int64_t x = x_end; x < w.out; ++x) to[x] = T(0);
          }
          std::fill_n(to, (h.out - y_end) * w.out, T(0));
          to += (h.out - y_end) * w.out;
        }
      }
    }
  }
  return columns_.data();
}

// The reverse: what a pixel's patch got is added where it came from.
template <class T>
void Convolution<T>::add_columns(T* image, int64_t first, int64_t count, int64_t group) const {
  const WindowAxis &h = s_.height, &w = s_.width;
  int64_t channel_size = h.size * w.size;
  T* channel = image + first * s_.image_size() + group * s_.in_channels * channel_size;
  const T* from = columns_.data();
  for (int64_t c = 0; c < s_.in_channels; ++c, channel += channel_size) {
    for (int64_t i = 0; i < h.window; ++i) {
      int64_t y_begin = h.begin_of(i), y_end = h.end_of(i);
      for (int64_t j = 0; j < w.window; ++j) {
        int64_t x_begin = w.begin_of(j), x_end = w.end_of(j);
        for (int64_t n = 0; n < count; ++n, from += h.out * w.out) {
          T* to = channel + n * s_.image_size() + w.first(0) + j * w.dilation;
          for (int64_t y = y_begin; y < y_end; ++y) {
            T* row = to + (h.first(y) + i * h.dilation) * w.size;
            const T* part = from + y * w.out;
            if (w.stride == 1) add_row(row + x_begin, part + x_begin, x_end - x_begin);
            else for (int64_t x = x_begin; x < x_end; ++x) row[x * w.stride] += part[x];
          }
        }
      }
    }
  }
}

// Outputs lie image by image; the products have them as [out_channels, images * pixels].
template <class T>
void Convolution<T>::gather(const T* out, int64_t first, int64_t count, int64_t group) {
  const T* from = out + first * s_.out_size() + group * s_.out_channels * s_.pixels();
  for (int64_t c = 0; c < s_.out_channels; ++c) {
    for (int64_t n = 0; n < count; ++n) {
      copy_row(outs_.data() + (c * count + n) * s_.pixels(), from + n * s_.out_size() + c * s_.pixels(), s_.pixels());
    }
  }
}

template <class T>
void Convolution<T>::scatter(T* out, int64_t first, int64_t count, int64_t group) const {
  T* to = out + first * s_.out_size() + group * s_.out_channels * s_.pixels();
  for (int64_t c = 0; c < s_.out_channels; ++c) {
    for (int64_t n = 0; n < count; ++n) {
      copy_row(to + n * s_.out_size() + c * s_.pixels(), static_cast<const T*>(outs_.data()) + (c * count + n) * s_.pixels(), s_.pixels());
    }
  }
}

// out = filter columns
template <class T>
void Convolution<T>::run(Device& device, const T* image, const T* filter, T* out) {
  each_run([&](int64_t first, int64_t count, int64_t group) {
    Gemm<T> product;
    product.m = s_.out_channels, product.n = count * s_.pixels(), product.k = s_.taps();
    T* direct = out + first * s_.out_size() + group * s_.out_channels * s_.pixels();
    const T* columns = columns_of(image, first, count, group);
    product.run(device, filter + group * s_.out_channels * s_.taps(), columns, together_ == 1 ? direct : outs_.data());
    if (together_ != 1) scatter(out, first, count, group);
  });
}

// columns' gradient = filter' out's gradient
template <class T>
void Convolution<T>::input_gradient(Device& device, const T* filter, const T* out_gradient, T* image_gradient) {
  if (!plain_) std::fill_n(image_gradient, s_.images * s_.image_size(), T(0));
  each_run([&](int64_t first, int64_t count, int64_t group) {
    Gemm<T> product;
    product.transpose_a = true;
    product.m = s_.taps(), product.n = count * s_.pixels(), product.k = s_.out_channels;
    const T* gradient = out_gradient + first * s_.out_size() + group * s_.out_channels * s_.pixels();
    if (together_ != 1) gather(out_gradient, first, count, group);
    T* direct = image_gradient + first * s_.image_size() + group * s_.in_channels * s_.height.size * s_.width.size;
    product.run(device, filter + group * s_.out_channels * s_.taps(), together_ == 1 ? gradient : outs_.data(),
                plain_ ? direct : columns_.data());
    if (!plain_) add_columns(image_gradient, first, count, group);
  });
}

// filter's gradient = sum over the images of out's gradient columns'
template <class T>
void Convolution<T>::filter_gradient(Device& device, const T* image, const T* out_gradient, T* filter_gradient) {
  if (s_.images == 0) std::fill_n(filter_gradient, s_.groups * s_.out_channels * s_.taps(), T(0));
  each_run([&](int64_t first, int64_t count, int64_t group) {
    Gemm<T> product;
    product.transpose_b = true;
    product.m = s_.out_channels, product.n = s_.taps(), product.k = count * s_.pixels();
    product.beta = first == 0 ? T(0) : T(1);
    const T* gradient = out_gradient + first * s_.out_size() + group * s_.out_channels * s_.pixels();
    const T* columns = columns_of(image, first, count, group);
    if (together_ != 1) gather(out_gradient, first, count, group);
    product.run(device, together_ == 1 ? gradient : outs_.data(), columns, filter_gradient + group * s_.out_channels * s_.taps());
  });
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace paddle_mini
