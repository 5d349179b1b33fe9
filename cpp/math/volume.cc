// Layouts of volumes; patches as rows of a matrix.
#include "math/volume.h"

#include <algorithm>

#include "math/complex.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {

VolumeLayout::VolumeLayout(const Shape& x, const std::string& data_format)
    : channels_last(data_format == "NDHWC" || data_format == "NHWC") {
  int first = channels_last ? 1 : 2;
  images = x[0];
  channels = x[channels_last ? 4 : 1];
  sizes = {x[first], x[first + 1], x[first + 2]};
}

Shape VolumeLayout::with(int64_t new_channels, const std::array<int64_t, 3>& s) const {
  return channels_last ? Shape{images, s[0], s[1], s[2], new_channels} : Shape{images, new_channels, s[0], s[1], s[2]};
}

// Calls f(line's offset in the row, image element of its output `begin`, begin, end) for each line of outputs of a row of
// the matrix. The outputs [begin, end) of a line read the image, the others its padding.
template <class F>
void VolumePatches::each_line(int64_t row, F f) const {
  const auto& [depth, height, width] = axes;
  int64_t c = row / taps(), tap = row % taps(), line = 0;
  int64_t k = tap / (height.window * width.window), i = tap / width.window % height.window, j = tap % width.window;
  int64_t begin = width.begin_of(j), end = width.end_of(j);
  int64_t x = width.first(begin) + j * width.dilation;
  for (int64_t z_out = 0; z_out < depth.out; ++z_out) {
    int64_t z = depth.first(z_out) + k * depth.dilation;
    for (int64_t y_out = 0; y_out < height.out; ++y_out, line += width.out) {
      int64_t y = height.first(y_out) + i * height.dilation;
      bool inside = z >= 0 && z < depth.size && y >= 0 && y < height.size && begin < end;
      if (!inside) f(line, 0, 0, 0);
      else f(line, c * channel_step + ((z * height.size + y) * width.size + x) * pixel_step, begin, end);
    }
  }
}

template <class T>
void VolumePatches::gather(KernelContext& context, int64_t images, const T* image, int64_t image_size,
                           T* columns) const {
  int64_t step = axes[2].stride * pixel_step, length = axes[2].out, all = rows(), size = outputs();
  double cost = bytes_cost(2.0 * sizeof(T)) * static_cast<double>(size);
  each_item(context, {images * all, cost}, [&](int64_t item) {
    const T* source = image + item / all * image_size;
    each_line(item % all, [=](int64_t line, int64_t from, int64_t begin, int64_t end) {
      T* to = columns + item * size + line;
      std::fill(to, to + begin, T(0));
      if (step == 1) std::copy_n(source + from, end - begin, to + begin);
      else
        for (int64_t i = begin; i < end; ++i) to[i] = source[from + (i - begin) * step];
      std::fill(to + end, to + length, T(0));
    });
  });
}

// An item is a channel of an image: the rows of its taps are added in order.
template <class T>
void VolumePatches::add_back(KernelContext& context, int64_t images, const T* columns, T* image,
                             int64_t image_size) const {
  int64_t step = axes[2].stride * pixel_step, size = outputs();
  double cost = bytes_cost(3.0 * sizeof(T)) * static_cast<double>(taps() * size);
  each_item(context, {images * channels, cost}, [&](int64_t item) {
    T* target = image + item / channels * image_size;
    for (int64_t tap = 0; tap < taps(); ++tap) {
      const T* row = columns + (item * taps() + tap) * size;
      each_line(item % channels * taps() + tap, [=](int64_t line, int64_t to, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) target[to + (i - begin) * step] += row[line + i];
      });
    }
  });
}

#define PM_INSTANTIATE(T)                                                                    \
  template void VolumePatches::gather(KernelContext&, int64_t, const T*, int64_t, T*) const; \
  template void VolumePatches::add_back(KernelContext&, int64_t, const T*, T*, int64_t) const;
PM_INSTANTIATE(float)
PM_INSTANTIATE(double)
PM_INSTANTIATE(Complex<float>)
PM_INSTANTIATE(Complex<double>)
#undef PM_INSTANTIATE

}  // namespace paddle_mini
