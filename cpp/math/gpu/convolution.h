// Convolutions of images and volumes on a GPU, expressed, like their gradients, as products with taps.
#pragma once

#include <numeric>
#include <vector>

#include "cuda/cudnn.h"
#include "math/convolution_sizes.h"
#include "math/copy.h"
#include "math/gpu/tap_products.h"
#include "math/volume.h"

namespace paddle_mini {

// Channel counts are per group.
struct ConvolvedVolumes {
  int64_t images, groups, in_channels, out_channels;
  VolumeAxes axes;
  bool channels_last = false;

  int64_t taps() const { return axes[0].window * axes[1].window * axes[2].window; }
  int64_t pixels(bool out) const { return size(0, out) * size(1, out) * size(2, out); }
  int64_t size(int axis, bool out) const { return out ? axes[axis].out : axes[axis].size; }
  int64_t image_size() const { return groups * in_channels * pixels(false); }

  TapSteps steps(bool out) const {
    int64_t channels = out ? out_channels : in_channels, plane = pixels(out);
    if (channels_last) return {groups * channels * plane, channels, 1, groups * channels};
    return {groups * channels * plane, channels * plane, plane, 1};
  }
};

template <class T>
class VolumeConvolution {
 public:
  explicit VolumeConvolution(const ConvolvedVolumes& volumes)
      : v_(volumes), cudnn_(dtype_of<T>::value, shape()), forward_(forward()) {
    std::vector<TapAxis> along[3];
    for (int d = 0; d < 3; ++d) along[d] = gradient_axes(v_.axes[d]);
    int64_t seen = 0;
    for (const TapAxis& z : along[0]) {
      for (const TapAxis& y : along[1]) {
        for (const TapAxis& x : along[2]) {
          seen += z.windows * y.windows * x.windows;
          backward_.push_back(backward(z, y, x));
        }
      }
    }
    every_pixel_seen_ = seen == v_.pixels(false);
  }

  void run(KernelContext& context, const T* image, const T* filter, T* out) {
    if (!cudnn_.run(context, image, filter, out)) forward_.run(context, image, filter, out);
  }
  void filter_gradient(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient) {
    if (cudnn_.filter_gradient(context, image, out_gradient, filter_gradient)) return;
    forward_.filter_gradient(context, image, out_gradient, filter_gradient);
  }
  void input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient) {
    if (cudnn_.input_gradient(context, filter, out_gradient, image_gradient)) return;
    if (!every_pixel_seen_) fill_n(context, image_gradient, v_.images * v_.image_size(), T(0));
    for (const TapProducts<T>& product : backward_) product.run(context, out_gradient, filter, image_gradient);
  }

 private:
  // Images, which have depth 1 throughout, have two axes.
  ConvolvedShape shape() const {
    ConvolvedShape s{v_.images, v_.groups, v_.in_channels, v_.out_channels, {}, v_.channels_last};
    const WindowAxis& depth = v_.axes[0];
    bool flat = depth.size == 1 && depth.out == 1 && depth.window == 1 && depth.before == 0;
    for (int d = flat ? 1 : 0; d < 3; ++d) {
      const WindowAxis& axis = v_.axes[d];
      s.axes.push_back({axis.size, axis.out, axis.window, axis.before, axis.stride, axis.dilation});
    }
    return s;
  }

  TapProducts<T> forward() const {
    TapProducts<T> p{{}, v_.images, v_.groups, v_.out_channels, v_.in_channels, v_.steps(false), v_.steps(true)};
    for (int d = 0; d < 3; ++d) {
      const WindowAxis& axis = v_.axes[d];
      p.axes[d] = {axis.size,   axis.out, axis.window, -axis.before, axis.stride, axis.dilation,
                   axis.window, 0,        1,           axis.out,     0,           1};
    }
    p.filter_channel = v_.taps();
    p.filter_row = v_.in_channels * p.filter_channel;
    p.filter_group = v_.out_channels * p.filter_row;
    return p;
  }

  TapProducts<T> backward(const TapAxis& z, const TapAxis& y, const TapAxis& x) const {
    TapProducts<T> p{{z, y, x}, v_.images, v_.groups, v_.in_channels, v_.out_channels, v_.steps(true), v_.steps(false)};
    p.filter_row = v_.taps();
    p.filter_channel = v_.in_channels * p.filter_row;
    p.filter_group = v_.out_channels * p.filter_channel;
    return p;
  }

  // The pixels of one axis that read the same taps: input pixel y = o * stride - before + tap * dilation.
  static std::vector<TapAxis> gradient_axes(const WindowAxis& axis) {
    std::vector<TapAxis> axes;
    int64_t common = std::gcd(axis.stride, axis.dilation), apart = axis.stride / common;
    for (int64_t tap = 0; tap < std::min(apart, axis.window); ++tap) {
      int64_t place = tap * axis.dilation - axis.before, first = (place % axis.stride + axis.stride) % axis.stride;
      if (first >= axis.size) continue;
      axes.push_back({axis.out, (axis.size - first + axis.stride - 1) / axis.stride,
                      (axis.window - tap + apart - 1) / apart, (first - place) / axis.stride, 1,
                      -axis.dilation / common, axis.window, tap, apart, axis.size, first, axis.stride});
    }
    return axes;
  }

  ConvolvedVolumes v_;
  CudnnConvolution cudnn_;
  TapProducts<T> forward_;
  std::vector<TapProducts<T>> backward_;
  bool every_pixel_seen_ = true;
};

// Images are volumes of depth 1.
template <class T>
class GpuConvolution : public VolumeConvolution<T> {
 public:
  GpuConvolution(KernelInit&, const ConvolutionSizes& s, const ConvolutionResults&)
      : VolumeConvolution<T>({s.images, s.groups, s.in_channels, s.out_channels,
                              VolumeAxes{WindowAxis(), s.height, s.width}}) {}
};

template <class T>
using Convolution = GpuConvolution<T>;

}  // namespace paddle_mini
