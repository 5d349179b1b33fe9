// DirectProduct: the product of a forward convolution, and those of the gradient of its images.
#include "math/cpu/direct_product.h"

namespace paddle_mini {
namespace {

std::vector<int64_t> all_taps(const ConvolutionSizes& s) {
  std::vector<int64_t> taps;
  for (int64_t tap = 0; tap < s.height.window * s.width.window; ++tap) taps.push_back(tap);
  return taps;
}

// The pixels of one axis that read the same taps: input pixel y = o * stride - before + tap * dilation.
struct GradientAxis {
  PatchAxis patches;
  std::vector<int64_t> taps;
};

std::vector<GradientAxis> gradient_axes(const WindowAxis& axis) {
  std::vector<GradientAxis> axes;
  for (int64_t tap = 0; tap < axis.window; ++tap) {
    int64_t place = tap * axis.dilation - axis.before, first = (place % axis.stride + axis.stride) % axis.stride;
    if (first >= axis.size) continue;
    auto same = [first](const GradientAxis& known) { return known.patches.out_first == first; };
    auto known = std::find_if(axes.begin(), axes.end(), same);
    if (known == axes.end()) {
      int64_t count = (axis.size - first + axis.stride - 1) / axis.stride;
      axes.push_back({{axis.out, 1, 0, {}, count, axis.size, first, axis.stride}, {}});
      known = axes.end() - 1;
    }
    known->patches.taps.push_back((first - place) / axis.stride);
    known->taps.push_back(tap);
  }
  return axes;
}

}  // namespace

template <class T>
DirectProduct<T> DirectProduct<T>::forward(const ConvolutionSizes& s) {
  const PatchAxis height = PatchAxis::forward(s.height), width = PatchAxis::forward(s.width);
  PatchGrid<T> grid(height, width, s.images, s.in_channels, s.image_size(), s.out_size());
  return {std::move(grid),
          s.images,
          s.pixels(),
          s.in_channels,
          s.out_channels,
          s.plane(),
          s.pixels(),
          all_taps(s),
          s.taps(),
          s.height.window * s.width.window,
          1,
          0};
}

template <class T>
std::vector<DirectProduct<T>> DirectProduct<T>::by_input(const ConvolutionSizes& s) {
  std::vector<DirectProduct> products;
  for (const GradientAxis& y : gradient_axes(s.height)) {
    for (const GradientAxis& x : gradient_axes(s.width)) {
      std::vector<int64_t> taps;
      for (int64_t i : y.taps) {
        for (int64_t j : x.taps) taps.push_back(i * s.width.window + j);
      }
      PatchGrid<T> grid(y.patches, x.patches, s.images, s.out_channels, s.out_size(), s.image_size());
      products.push_back({std::move(grid), s.images, y.patches.windows * x.patches.windows, s.out_channels,
                          s.in_channels, s.pixels(), s.plane(), std::move(taps), s.height.window * s.width.window,
                          s.taps(), s.width.stride, y.patches.out_first * s.width.size + x.patches.out_first});
    }
  }
  return products;
}

template struct DirectProduct<float>;
template struct DirectProduct<double>;

}  // namespace paddle_mini
