// Convolution: which class computes which result.
#include "math/convolution.h"

#include "math/copy.h"

namespace paddle_mini {
namespace {

// As PatchProducts::kForwardCopy, for input_gradient (it reads, adds and stores the tap's gradient) and filter_gradient.
constexpr int64_t kInputCopy = 14, kFilterCopy = 8;

// Pixels that are independent of each other form one row.
ConvolutionSizes in_one_row(ConvolutionSizes s) {
  if (!s.is_pointwise()) return s;
  s.width.size = s.width.out = s.plane();
  s.height.size = s.height.out = 1;
  return s;
}

// Lanes of images are copied twice, and their inputs come from the L2 cache, once for a few filters. That is faster than
// registers of pixels if these leave lanes idle, and for gradients, which read neighbouring rows. Of outputs of one column
// too few sums are computed together. Measured on a Xeon.
template <class T>
bool may_use_lanes(const ConvolutionSizes& s) {
  return ImageLanes<T>::fits(s) && s.height.window * s.width.window > 1 && s.out_channels > 1 && s.width.out > 1;
}

template <class T>
bool leaves_lanes_idle(const PatchGrid<T>& grid, const ConvolutionSizes& s) {
  constexpr double kFewIdle = 1.15;
  return static_cast<double>(grid.lanes()) > kFewIdle * static_cast<double>(s.images * s.pixels());
}

}  // namespace

// Each choice between direct products and PatchProducts compares the cost of multiplying all lanes of slots with that of
// multiplying only windows plus copying them.
template <class T>
Convolution<T>::Convolution(KernelInit& init, const ConvolutionSizes& sizes, bool gradients)
    : s_(gradients ? sizes : in_one_row(sizes)) {
  DirectProduct<T> product = DirectProduct<T>::forward(s_);
  if (!gradients && choose_forward_only(init, product)) return;
  choose_forward(init, std::move(product), gradients);
  if (gradients) choose_by_input(init), choose_by_filter(init);
  const bool forward = lanes_forward_ || direct_forward_, by_input = lanes_by_input_ || direct_by_input_;
  const bool by_filter = lanes_by_filter_ || direct_by_filter_;
  if (!forward || (gradients && !(by_input && by_filter))) patch_products_.emplace(init, s_, gradients);
}

// Classes that compute no gradients.
template <class T>
bool Convolution<T>::choose_forward_only(KernelInit& init, const DirectProduct<T>& product) {
  if (DepthwiseConvolution<T>::fits(s_)) {
    depthwise_.emplace(init, s_);
    return true;
  }
  if constexpr (std::is_same_v<T, float>) {
    winograd_.emplace(init, s_);
    if (winograd_->fits()) return true;
    winograd_.reset();
  }
  channel_panels_.emplace(init, s_, product.grid);
  if (channel_panels_->fits()) return true;
  channel_panels_.reset();
  if (PointwiseConvolution<T>::fits(s_)) pointwise_.emplace(init, s_);
  return pointwise_.has_value();
}

template <class T>
void Convolution<T>::choose_forward(KernelInit& init, DirectProduct<T> product, bool gradients) {
  const int64_t outs = s_.out_channels, lanes = product.grid.lanes();
  if (may_use_lanes<T>(s_) && leaves_lanes_idle(product.grid, s_)) lanes_forward_.emplace(init, s_, false);
  else if (lanes * outs <= s_.images * s_.pixels() * (outs + PatchProducts<T>::kForwardCopy))
    direct_forward_.emplace(init, s_, std::vector{std::move(product)}, !gradients);
}

// Fewer than six rows take as long as six, because loading the other operand dominates.
template <class T>
void Convolution<T>::choose_by_input(KernelInit& init) {
  constexpr int64_t kRowBytes = 1 << 18;  // half of what a band has
  if (may_use_lanes<T>(s_)) {
    lanes_by_input_.emplace(init, s_, true);
    if (lanes_by_input_->row_bytes() <= kRowBytes || lanes_forward_) return;
    lanes_by_input_.reset();
  }
  std::vector<DirectProduct<T>> all = DirectProduct<T>::by_input(s_);
  int64_t products = 0, seen = 0;
  for (const DirectProduct<T>& product : all) {
    products += product.grid.lanes() * static_cast<int64_t>(product.taps.size());
    seen += product.pixels;
  }
  products *= std::max<int64_t>(s_.in_channels, 6);
  const int64_t outs = s_.out_channels;
  if (products * outs > s_.images * s_.pixels() * s_.taps() * (outs + kInputCopy)) return;
  direct_by_input_.emplace(init, s_, std::move(all), false);
  every_pixel_seen_ = seen == s_.plane();
}

template <class T>
void Convolution<T>::choose_by_filter(KernelInit& init) {
  if (may_use_lanes<T>(s_) && ImageLanesGradient<T>::fits(s_)) {
    lanes_by_filter_.emplace(init, s_);
    return;
  }
  PatchGrid<T> grid = DirectFilterGradient<T>::grid_of(s_);
  const int64_t outs = s_.out_channels;
  if (grid.lanes() * outs > s_.images * s_.pixels() * (outs + kFilterCopy)) return;
  direct_by_filter_.emplace(init, s_, std::move(grid));
}

template <class T>
void Convolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_) return winograd_->run(context, image, filter, out);
  }
  if (pointwise_) pointwise_->run(context, image, filter, out);
  else if (depthwise_) depthwise_->run(context, image, filter, out);
  else if (channel_panels_) channel_panels_->run(context, image, filter, out);
  else if (lanes_forward_) lanes_forward_->run(context, image, filter, out);
  else if (direct_forward_) direct_forward_->run(context, image, filter, out);
  else patch_products_->run(context, image, filter, out);
}

template <class T>
void Convolution<T>::input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient) {
  if (lanes_by_input_) return lanes_by_input_->run(context, out_gradient, filter, image_gradient);
  if (!direct_by_input_) return patch_products_->input_gradient(context, filter, out_gradient, image_gradient);
  if (!every_pixel_seen_) fill_n(context, image_gradient, s_.images * s_.image_size(), T(0));
  direct_by_input_->run(context, out_gradient, filter, image_gradient);
}

template <class T>
void Convolution<T>::filter_gradient(KernelContext& context, const T* image, const T* out_gradient,
                                     T* filter_gradient) {
  if (lanes_by_filter_) lanes_by_filter_->run(context, image, out_gradient, filter_gradient);
  else if (direct_by_filter_) direct_by_filter_->run(context, image, out_gradient, filter_gradient);
  else patch_products_->filter_gradient(context, image, out_gradient, filter_gradient);
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace paddle_mini
