// FourierLine: the discrete Fourier transform of one line, out[j] = the sum of in[k] exp(-2 pi i j k / n) over k.
#pragma once

#include <cstdint>
#include <memory>

#include "math/complex.h"

namespace paddle_mini {

// Transforms of any length take n log n operations. One object serves one thread.
template <class T>
class FourierLine {
 public:
  FourierLine(int64_t length, bool forward);  // else with exp(+2 pi i j k / n); neither divides by n
  FourierLine(FourierLine&&) noexcept;
  ~FourierLine();

  Complex<T>* line();  // `length` elements, which run() replaces by their transform
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class FourierLine<float>;
extern template class FourierLine<double>;

}  // namespace paddle_mini
