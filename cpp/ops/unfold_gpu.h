// The kernels of unfold on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/unravel_last.h"

namespace paddle_mini {
namespace {

template <class T>
struct PatchElement {
  WindowAxis height, width;
  const T* image;
  T* columns;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, x = unravel_last(left, width.out) * width.stride - width.before;
    int64_t y = unravel_last(left, height.out) * height.stride - height.before;
    x += unravel_last(left, width.window) * width.dilation;
    y += unravel_last(left, height.window) * height.dilation;
    bool inside = x >= 0 && x < width.size && y >= 0 && y < height.size;
    columns[i] = inside ? image[(left * height.size + y) * width.size + x] : T(0);
  }
};

// Each thread sums the elements of the columns that correspond to one pixel.
template <class T>
struct PatchSum {
  WindowAxis height, width;
  const T* columns;
  T* image;

  // The output whose window has the pixel at this tap; -1 if there is none.
  PM_DEVICE static int64_t output(const WindowAxis& axis, int64_t pixel, int64_t tap) {
    int64_t from = pixel + axis.before - tap * axis.dilation;
    return from >= 0 && from % axis.stride == 0 && from / axis.stride < axis.out ? from / axis.stride : -1;
  }
  PM_DEVICE void operator()(int64_t i) const {
    int64_t channel = i, column = unravel_last(channel, width.size), row = unravel_last(channel, height.size);
    T total = 0;
    for (int64_t j = 0; j < height.window; ++j) {
      int64_t y = output(height, row, j);
      if (y < 0) continue;
      for (int64_t k = 0; k < width.window; ++k) {
        int64_t x = output(width, column, k), tap = (channel * height.window + j) * width.window + k;
        if (x >= 0) total += columns[(tap * height.out + y) * width.out + x];
      }
    }
    image[i] = total;
  }
};

template <class T>
void Patches<T>::gather(KernelContext& context, const T* image, T* columns) const {
  PatchElement<T> element{patches.axes[1], patches.axes[2], image, columns};
  for_each_index(context, images * columns_size, element);
}

template <class T>
void Patches<T>::add_up(KernelContext& context, const T* columns, T* image) const {
  for_each_index(context, images * image_size, PatchSum<T>{patches.axes[1], patches.axes[2], columns, image});
}

}  // namespace
}  // namespace paddle_mini
