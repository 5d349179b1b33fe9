// Convolution: which class computes which result.
#include "math/convolution.h"

#include "math/copy.h"

namespace paddle_mini {
namespace {

// As PatchProducts::kForwardCopy, for input_gradient: it reads, adds and stores the tap's gradient.
constexpr int64_t kInputCopy = 14;

// Lanes of images are copied twice, and their inputs come from the L2 cache, once for a few filters. That is faster than
// registers of pixels if these leave lanes idle, and for gradients, which read neighbouring rows. Of outputs of one column
// too few sums are computed together. Measured on a Xeon.
template <class T>
bool may_use_lanes(const ConvolutionSizes& s) {
  return ImageLanes<T>::fits(s) && s.height.window * s.width.window > 1 && s.out_channels > 1 && s.width.out > 1;
}

// A row of so many channels, in lanes. It is read for every few filters, so that it must stay in the L2 cache: that of the
// gradient of filters, and those that a row of the gradient of images reads.
template <class T>
int64_t row_bytes(int64_t channels, int64_t columns) {
  return channels * columns * Vec<T>::size * int64_t{sizeof(T)};
}
constexpr int64_t kRowBytes = 1 << 17, kRowsBytes = 1 << 18;

// Whether the gradient of images has so many products that transforms pay, even beside lanes of images. Measured on a Xeon.
template <class T>
bool is_large_winograd(const ConvolutionSizes& s) {
  constexpr int64_t kManyProducts = 1 << 24;
  const bool may_transform = std::is_same_v<T, float> && s.height.stride == 1 && s.width.stride == 1;
  return may_transform && suits_winograd(s.by_input()) &&
         s.images * s.plane() * s.in_channels * s.out_channels >= kManyProducts;
}

// Products that write neighbouring pixels are computed for so many images, which stay in the cache.
int64_t images_of_block(const ConvolutionSizes& s) {
  constexpr int64_t kPixels = 1 << 10;  // that fill the registers of a few products
  if (s.height.stride * s.width.stride == 1) return std::max<int64_t>(s.images, 1);
  int64_t images = 1;
  while (images < s.images && (s.images % images != 0 || images * s.plane() < kPixels)) ++images;
  return images;
}

template <class T>
bool leaves_lanes_idle(const PatchGrid<T>& grid, const ConvolutionSizes& s) {
  constexpr double kFewIdle = 1.15;
  return static_cast<double>(grid.lanes()) > kFewIdle * static_cast<double>(s.images * s.pixels());
}

}  // namespace

template <class T>
Convolution<T>::Convolution(KernelInit& init, const ConvolutionSizes& sizes, const ConvolutionResults& results)
    : s_(sizes.in_one_row()) {
  const char* port = results.by_filter ? nullptr : "Filter";  // filters that are trained change in every run
  const bool forward = !results.output || choose_forward(init, port);
  const bool by_input = !results.by_input || choose_by_input(init, port);
  if (results.by_filter) choose_by_filter(init);
  if (!forward || !by_input) patch_products_.emplace(init, s_, results);
}

// The choice between direct products and PatchProducts compares the cost of multiplying all lanes of slots with that of
// multiplying only windows plus copying them.
template <class T>
bool Convolution<T>::choose_forward(KernelInit& init, const char* port) {
  special_forward_.emplace(init, s_, port, false);
  if (special_forward_->fits()) return true;
  special_forward_.reset();
  DirectProduct<T> product = DirectProduct<T>::forward(s_);
  const int64_t outs = s_.out_channels, lanes = product.grid.lanes();
  if (may_use_lanes<T>(s_) && leaves_lanes_idle(product.grid, s_)) lanes_forward_.emplace(init, s_, false);
  else if (lanes * outs <= s_.images * s_.pixels() * (outs + PatchProducts<T>::kForwardCopy))
    direct_forward_.emplace(init, s_, std::vector{std::move(product)}, 1, port);
  return lanes_forward_ || direct_forward_;
}

template <class T>
bool Convolution<T>::choose_by_input(KernelInit& init, const char* port) {
  const WindowAxis& h = s_.height;
  const int64_t rows = (h.window - 1) * h.dilation / h.stride + 1;  // that a row of the gradient reads
  if (may_use_lanes<T>(s_) && rows * row_bytes<T>(s_.out_channels, s_.width.out) <= kRowsBytes &&
      !is_large_winograd<T>(s_)) {
    lanes_by_input_.emplace(init, s_, true);
    return true;
  }
  special_by_input_.emplace(init, s_, port, true);
  if (special_by_input_->fits()) return true;
  special_by_input_.reset();
  return choose_direct_by_input(init);
}

// Fewer than six rows take as long as six, because loading the other operand dominates.
template <class T>
bool Convolution<T>::choose_direct_by_input(KernelInit& init) {
  ConvolutionSizes block = s_;
  block.images = images_of_block(s_);
  std::vector<DirectProduct<T>> all = DirectProduct<T>::by_input(block);
  int64_t products = 0, seen = 0;
  for (const DirectProduct<T>& product : all) {
    products += product.grid.lanes() * static_cast<int64_t>(product.taps.size());
    seen += product.pixels;
  }
  products *= std::max<int64_t>(s_.in_channels, 6);
  const int64_t outs = s_.out_channels;
  if (products * outs > block.images * s_.pixels() * s_.taps() * (outs + kInputCopy)) return false;
  direct_by_input_.emplace(init, s_, std::move(all), s_.images / block.images, nullptr);
  every_pixel_seen_ = seen == s_.plane();
  return true;
}

template <class T>
void Convolution<T>::choose_by_filter(KernelInit& init) {
  if (PaddedRows<T>::fits(s_)) depthwise_by_filter_.emplace(init, s_);
  else if (may_use_lanes<T>(s_) && ImageLanesGradient<T>::fits(s_) &&
           row_bytes<T>(s_.groups * s_.in_channels, s_.width.size) <= kRowBytes)
    lanes_by_filter_.emplace(init, s_);
  else if (FilterGradient<T>::fits(s_)) packed_by_filter_.emplace(init, s_);
  else direct_by_filter_.emplace(init, s_, DirectFilterGradient<T>::grid_of(s_));
}

template <class T>
void Convolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  if (special_forward_) special_forward_->run(context, image, filter, out);
  else if (lanes_forward_) lanes_forward_->run(context, image, filter, out);
  else if (direct_forward_) direct_forward_->run(context, image, filter, out);
  else patch_products_->run(context, image, filter, out);
}

template <class T>
void Convolution<T>::input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient) {
  if (special_by_input_) return special_by_input_->run(context, out_gradient, filter, image_gradient);
  if (lanes_by_input_) return lanes_by_input_->run(context, out_gradient, filter, image_gradient);
  if (!direct_by_input_) return patch_products_->input_gradient(context, filter, out_gradient, image_gradient);
  if (!every_pixel_seen_) fill_n(context, image_gradient, s_.images * s_.image_size(), T(0));
  direct_by_input_->run(context, out_gradient, filter, image_gradient);
}

template <class T>
void Convolution<T>::filter_gradient(KernelContext& context, const T* image, const T* out_gradient,
                                     T* filter_gradient) {
  if (depthwise_by_filter_) depthwise_by_filter_->run(context, image, out_gradient, filter_gradient);
  else if (lanes_by_filter_) lanes_by_filter_->run(context, image, out_gradient, filter_gradient);
  else if (packed_by_filter_) packed_by_filter_->run(context, image, out_gradient, filter_gradient);
  else direct_by_filter_->run(context, image, out_gradient, filter_gradient);
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace paddle_mini
