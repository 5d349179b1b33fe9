// Convolution: which class computes which products, and what this one needs for its own.
#include "math/convolution.h"

namespace paddle_mini {
namespace {

// As PatchProducts::kForwardCopy, for input_gradient (it reads, adds and stores the tap's gradient) and filter_gradient.
constexpr int64_t kInputCopy = 14, kFilterCopy = 8;

std::vector<int64_t> all_taps(const ConvolutionSizes& s) {
  std::vector<int64_t> taps;
  for (int64_t tap = 0; tap < s.height.window * s.width.window; ++tap) taps.push_back(tap);
  return taps;
}

PatchAxis forward_axis(const WindowAxis& axis) {
  PatchAxis patches{axis.size, axis.stride, -axis.before, {}, axis.out, axis.out, 0, 1};
  for (int64_t tap = 0; tap < axis.window; ++tap) patches.taps.push_back(tap * axis.dilation);
  return patches;
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

// Pixels that are independent of each other form one row.
ConvolutionSizes in_one_row(ConvolutionSizes s) {
  if (!s.is_pointwise()) return s;
  s.width.size = s.width.out = s.plane();
  s.height.size = s.height.out = 1;
  return s;
}

}  // namespace

template <class T>
Convolution<T>::Convolution(KernelInit& init, const ConvolutionSizes& sizes, bool gradients)
    : s_(gradients ? sizes : in_one_row(sizes)),
      forward_{Grid(forward_axis(s_.height), forward_axis(s_.width), s_.images, s_.in_channels, s_.image_size(),
                    s_.out_size()),
               s_.in_channels,
               s_.out_channels,
               s_.plane(),
               s_.pixels(),
               all_taps(s_),
               s_.taps(),
               s_.height.window * s_.width.window,
               1,
               0},
      channels_at_once_(std::clamp<int64_t>(s_.in_channels, 1, 32)),
      outs_at_once_(std::min<int64_t>(s_.out_channels, 32)),
      filter_grid_(forward_axis(s_.height), forward_axis(s_.width), gradients ? s_.images : 0, channels_at_once_,
                   s_.image_size(), s_.out_size()),
      patches_(init, 0), outs_(init, 0) {
  if (gradients) add_input_gradients();
  if (!gradients && choose_own_class(init)) return;
  choose_lanes(init, gradients);
  choose_patches(gradients);
  if (patches_forward_ || patches_by_input_ || patches_by_filter_) patch_products_.emplace(init, s_, gradients);
  add_scratch(init, gradients);
}

// Only for products that this class computes itself.
template <class T>
void Convolution<T>::add_scratch(KernelInit& init, bool gradients) {
  const bool forward = !lanes_forward_ && !patches_forward_;
  const bool by_input = gradients && !lanes_by_input_ && !patches_by_input_;
  const bool by_filter = gradients && !lanes_by_filter_ && !patches_by_filter_;
  if (forward || by_input) {
    factors_.emplace(init, gradients ? nullptr : "Filter", "filters by blocks of rows, taps",
                     std::vector<int64_t>{s_.groups, s_.out_channels, s_.in_channels, s_.taps()},
                     s_.groups * s_.out_channels * s_.taps());
  }
  int64_t elements = forward ? forward_.grid.buffer_size() : 0;
  if (by_input) {
    for (const Product& product : input_gradients_) elements = std::max(elements, product.grid.buffer_size());
  }
  if (by_filter) {
    elements = std::max(elements, filter_grid_.buffer_size());
    outs_.resize(filter_grid_.most_slots() * Vec<T>::size * outs_at_once_);
  }
  patches_.resize(elements);
}

// Whether depthwise_, winograd_, channel_panels_ or pointwise_ computes the products of a forward convolution.
template <class T>
bool Convolution<T>::choose_own_class(KernelInit& init) {
  if (DepthwiseConvolution<T>::fits(s_)) {
    depthwise_.emplace(init, s_);
    return true;
  }
  if constexpr (std::is_same_v<T, float>) {
    winograd_.emplace(init, s_);
    if (winograd_->fits()) return true;
    winograd_.reset();
  }
  channel_panels_.emplace(init, s_, forward_.grid);
  if (channel_panels_->fits()) return true;
  channel_panels_.reset();
  if (PointwiseConvolution<T>::fits(s_)) pointwise_.emplace(init, s_);
  return pointwise_.has_value();
}

template <class T>
void Convolution<T>::add_input_gradients() {
  int64_t seen = 0, window = s_.height.window * s_.width.window;
  for (const GradientAxis& y : gradient_axes(s_.height)) {
    for (const GradientAxis& x : gradient_axes(s_.width)) {
      seen += y.patches.windows * x.patches.windows;
      std::vector<int64_t> taps;
      for (int64_t i : y.taps) {
        for (int64_t j : x.taps) taps.push_back(i * s_.width.window + j);
      }
      Grid grid(y.patches, x.patches, s_.images, s_.out_channels, s_.out_size(), s_.image_size());
      int64_t first = y.patches.out_first * s_.width.size + x.patches.out_first;
      input_gradients_.push_back({std::move(grid), s_.out_channels, s_.in_channels, s_.pixels(), s_.plane(),
                                  std::move(taps), window, s_.taps(), s_.width.stride, first});
    }
  }
  every_pixel_seen_ = seen == s_.plane();
}

// Lanes of images are copied twice, and their inputs come from the L2 cache, once for a few filters. That is faster than
// registers of pixels if these leave lanes idle, and for gradients, which read neighbouring rows. Of outputs of one column too
// few sums are computed together. Measured on a Xeon.
template <class T>
void Convolution<T>::choose_lanes(KernelInit& init, bool gradients) {
  constexpr double kFewIdle = 1.15;
  constexpr int64_t kRowBytes = 1 << 18;  // half of what a band has
  const int64_t window = s_.height.window * s_.width.window;
  if (!ImageLanes<T>::fits(s_) || window == 1 || s_.out_channels == 1 || s_.width.out == 1) return;
  const auto windows = static_cast<double>(s_.images * s_.pixels());
  if (static_cast<double>(forward_.grid.lanes()) > kFewIdle * windows) lanes_forward_.emplace(init, s_, false);
  if (!gradients) return;
  lanes_by_input_.emplace(init, s_, true);
  if (lanes_by_input_->row_bytes() > kRowBytes && !lanes_forward_) lanes_by_input_.reset();
  if (ImageLanesGradient<T>::fits(s_)) lanes_by_filter_.emplace(init, s_);
}

// Compares the cost of multiplying all lanes of slots with that of multiplying only windows plus copying them. Fewer
// than six rows take as long as six, because loading the other operand dominates.
template <class T>
void Convolution<T>::choose_patches(bool gradients) {
  const int64_t outs = s_.out_channels, windows = s_.images * s_.pixels();
  patches_forward_ =
      !lanes_forward_ && forward_.grid.lanes() * outs > windows * (outs + PatchProducts<T>::kForwardCopy);
  if (!gradients) return;
  patches_by_filter_ = !lanes_by_filter_ && filter_grid_.lanes() * outs > windows * (outs + kFilterCopy);
  int64_t products = 0;
  for (const Product& product : input_gradients_) {
    products += product.grid.lanes() * static_cast<int64_t>(product.taps.size());
  }
  products *= std::max<int64_t>(s_.in_channels, 6);
  patches_by_input_ = !lanes_by_input_ && products * outs > windows * s_.taps() * (outs + kInputCopy);
}

template Convolution<float>::Convolution(KernelInit&, const ConvolutionSizes&, bool);
template Convolution<double>::Convolution(KernelInit&, const ConvolutionSizes&, bool);

}  // namespace paddle_mini
