// Patches to columns, products, and columns back to patches.
#include "math/convolution.h"

#include <algorithm>
#include <cstring>

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

// Rows are short: eight elements at a time cost less than a call. The last eight of a row overlap
// those before them, so that there is no loop for what is left.
template <class T>
struct Eight {
  typedef T Values __attribute__((vector_size(8 * sizeof(T))));
  Values values;

  static Eight load(const T* from) {
    Eight eight;
    std::memcpy(&eight.values, from, sizeof(Values));
    return eight;
  }
  void store(T* to) const { std::memcpy(to, &values, sizeof(Values)); }
};

template <class T>
inline void copy_row(T* to, const T* from, int64_t n) {
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + 8 <= n; i += 8) Eight<T>::load(from + i).store(to + i);
  if (n % 8 != 0) Eight<T>::load(from + n - 8).store(to + n - 8);
}

template <class T>
inline void add_row(T* to, const T* from, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) Eight<T>{Eight<T>::load(to + i).values + Eight<T>::load(from + i).values}.store(to + i);
  for (; i < n; ++i) to[i] += from[i];
}

// One tap of the window on one channel: the pixels (y, x) of [y_begin, y_end) x [x_begin, x_end) meet the
// image at offset + y * y_step + x * x_step, the others meet padding.
struct Tap {
  int64_t y_begin, y_end, x_begin, x_end, height, width;
  int64_t offset, y_step, x_step;

  Tap(const WindowAxis& h, const WindowAxis& w, int64_t i, int64_t j)
      : y_begin(h.begin_of(i)), y_end(h.end_of(i)), x_begin(w.begin_of(j)), x_end(w.end_of(j)), height(h.out),
        width(w.out), offset((h.first(0) + i * h.dilation) * w.size + w.first(0) + j * w.dilation),
        y_step(h.stride * w.size), x_step(w.stride) {}

  template <class T>
  void copy(const T* channel, T* to) const {
    const Tap t = *this;  // in registers: the compiler can't tell that the stores leave *this alone
    std::fill_n(to, t.y_begin * t.width, T(0));
    const T* row = channel + t.offset + t.y_begin * t.y_step;
    T* line = to + t.y_begin * t.width;
    for (int64_t y = t.y_begin; y < t.y_end; ++y, row += t.y_step, line += t.width) {
      for (int64_t x = 0; x < t.x_begin; ++x) line[x] = T(0);
      if (t.x_step == 1) copy_row(line + t.x_begin, row + t.x_begin, t.x_end - t.x_begin);
      else for (int64_t x = t.x_begin; x < t.x_end; ++x) line[x] = row[x * t.x_step];
      for (int64_t x = t.x_end; x < t.width; ++x) line[x] = T(0);
    }
    std::fill_n(line, (t.height - t.y_end) * t.width, T(0));
  }

  template <class T>
  void add(const T* from, T* channel) const {
    const Tap t = *this;
    T* row = channel + t.offset + t.y_begin * t.y_step;
    const T* line = from + t.y_begin * t.width;
    for (int64_t y = t.y_begin; y < t.y_end; ++y, row += t.y_step, line += t.width) {
      if (t.x_step == 1) add_row(row + t.x_begin, line + t.x_begin, t.x_end - t.x_begin);
      else for (int64_t x = t.x_begin; x < t.x_end; ++x) row[x * t.x_step] += line[x];
    }
  }
};

}  // namespace

template <class T>
Convolution<T>::Convolution(KernelInit& init, const ConvolutionSizes& sizes)
    : s_(sizes), together_(images_together(sizes)),
      plain_(is_plain(sizes.height) && is_plain(sizes.width) && together_ == 1),
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
  int64_t channel_size = s_.height.size * s_.width.size, image_size = s_.image_size(), pixels = s_.pixels();
  const T* channel = image + first * image_size + group * s_.in_channels * channel_size;
  if (plain_) return channel;
  T* to = columns_.data();
  for (int64_t c = 0; c < s_.in_channels; ++c, channel += channel_size) {
    for (int64_t i = 0; i < s_.height.window; ++i) {
      for (int64_t j = 0; j < s_.width.window; ++j) {
        Tap tap(s_.height, s_.width, i, j);
        for (int64_t n = 0; n < count; ++n, to += pixels) tap.copy(channel + n * image_size, to);
      }
    }
  }
  return columns_.data();
}

// The reverse: what a pixel's patch got is added where it came from.
template <class T>
void Convolution<T>::add_columns(T* image, int64_t first, int64_t count, int64_t group) const {
  int64_t channel_size = s_.height.size * s_.width.size, image_size = s_.image_size(), pixels = s_.pixels();
  T* channel = image + first * image_size + group * s_.in_channels * channel_size;
  const T* from = columns_.data();
  for (int64_t c = 0; c < s_.in_channels; ++c, channel += channel_size) {
    for (int64_t i = 0; i < s_.height.window; ++i) {
      for (int64_t j = 0; j < s_.width.window; ++j) {
        Tap tap(s_.height, s_.width, i, j);
        for (int64_t n = 0; n < count; ++n, from += pixels) tap.add(from, channel + n * image_size);
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
      copy_row(to + n * s_.out_size() + c * s_.pixels(),
               static_cast<const T*>(outs_.data()) + (c * count + n) * s_.pixels(), s_.pixels());
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
    product.run(device, together_ == 1 ? gradient : outs_.data(), columns,
                filter_gradient + group * s_.out_channels * s_.taps());
  });
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace paddle_mini
