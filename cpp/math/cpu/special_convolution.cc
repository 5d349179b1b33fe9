// SpecialConvolution: which class computes which shape.
#include "math/cpu/special_convolution.h"

namespace paddle_mini {

template <class T>
SpecialConvolution<T>::SpecialConvolution(KernelInit& init, const ConvolutionSizes& sizes, const char* port,
                                          bool by_input) {
  if (by_input) choose_by_input(init, sizes, port);
  else if (PaddedRows<T>::fits(sizes)) depthwise_.emplace(init, sizes, FilterOrder::forward(sizes, port));
  else choose(init, sizes.in_one_row(), FilterOrder::forward(sizes, port));
}

template <class T>
void SpecialConvolution<T>::choose_by_input(KernelInit& init, const ConvolutionSizes& sizes, const char* port) {
  const ConvolutionSizes turned = sizes.by_input();
  const FilterOrder order = FilterOrder::by_input(sizes, port);
  const int64_t stride = sizes.height.stride;
  if (stride == sizes.width.stride && stride <= 2 && PaddedRows<T>::fits(turned) && sizes.pixels() > 0) {
    depthwise_.emplace(init, turned, order, stride);
    return;
  }
  auto is_padded = [](const WindowAxis& axis) { return axis.before >= 0 && axis.after >= 0; };
  if (stride != 1 || sizes.width.stride != 1 || !is_padded(turned.height) || !is_padded(turned.width)) return;
  choose(init, turned.in_one_row(), order);
}

// The fastest one of those that can.
template <class T>
void SpecialConvolution<T>::choose(KernelInit& init, const ConvolutionSizes& s, const FilterOrder& order) {
  if constexpr (std::is_same_v<T, float>) {
    winograd_.emplace(init, s, order);
    if (winograd_->fits()) return;
    winograd_.reset();
  }
  channel_panels_.emplace(init, s, order);
  if (channel_panels_->fits()) return;
  channel_panels_.reset();
  if (PointwiseConvolution<T>::fits(s)) pointwise_.emplace(init, s, order);
}

template <class T>
void SpecialConvolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_) return winograd_->run(context, image, filter, out);
  }
  if (pointwise_) pointwise_->run(context, image, filter, out);
  else if (depthwise_) depthwise_->run(context, image, filter, out);
  else channel_panels_->run(context, image, filter, out);
}

template class SpecialConvolution<float>;
template class SpecialConvolution<double>;

}  // namespace paddle_mini
