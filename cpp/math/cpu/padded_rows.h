// PaddedRows: a few rows of one channel of an image, copied with their padding, so that windows need no bounds; for
// convolutions of each channel alone.
#pragma once

#include "math/convolution_sizes.h"
#include "math/vec.h"

namespace paddle_mini {

// A channel has one or two filters; windows are square, 3x3 or 5x5, with stride 1 or 2. With a spread of 2, the image's pixels have zeros between them:
// sizes are those of the image with these zeros.
template <class T>
class PaddedRows {
 public:
  explicit PaddedRows(const ConvolutionSizes& sizes, int64_t spread = 1);

  static bool fits(const ConvolutionSizes& sizes);
  int64_t pitch() const { return pitch_; }
  int64_t at_once() const { return at_once_; }  // rows of outputs whose inputs are copied together
  int64_t parts() const { return (height_.out + at_once_ - 1) / at_once_; }
  int64_t elements() const;  // a copy has so many
  // The inputs of `rows` rows of outputs from y on. A register may exceed a row, because the next row is written later.
  void copy(const T* plane, int64_t y, int64_t rows, T* to) const;

 private:
  WindowAxis height_, width_;
  int64_t spread_, pitch_, at_once_ = 0;
};

// The inputs of neighbouring outputs for one tap.
template <int stride, class T>
inline Vec<T> load_tap(const T* from) {
  if constexpr (stride == 1) return Vec<T>::load(from);
  else return every_second(Vec<T>::load(from), Vec<T>::load(from + Vec<T>::size));
}

// Calls f(window, stride), as constants.
template <class F>
void with_window(const ConvolutionSizes& s, F f) {
  auto with_stride = [&](auto window) {
    if (s.height.stride == 1) f(window, std::integral_constant<int, 1>());
    else f(window, std::integral_constant<int, 2>());
  };
  if (s.height.window == 3) with_stride(std::integral_constant<int, 3>());
  else with_stride(std::integral_constant<int, 5>());
}

extern template class PaddedRows<float>;
extern template class PaddedRows<double>;

}  // namespace paddle_mini
