// Fourier transforms of lines by the FFT of Eigen, which splits the length into its prime factors. A large factor would
// take quadratic time there, so such lengths are transformed as a convolution (Bluestein, A linear filtering approach to
// the computation of discrete Fourier transform, 1970) whose length is a power of 2.
#include "math/cpu/fourier.h"

#include <unsupported/Eigen/FFT>

#include <algorithm>
#include <complex>
#include <vector>

namespace paddle_mini {
namespace {

constexpr int64_t kLargestFactor = 50;  // beyond it the convolution is faster

int64_t largest_factor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = std::max(largest, p);
  return std::max(largest, n);
}

}  // namespace

template <class T>
struct FourierLine<T>::State {
  using Number = std::complex<T>;

  int64_t length;
  bool forward;
  Eigen::FFT<T> fft;
  std::vector<Number> line, spectrum;  // for the line, or for the convolution
  std::vector<Number> chirp, kernel;  // exp(-+ i pi k^2 / n), and the transform of its conjugate; empty: not needed

  State(int64_t length, bool forward) : length(length), forward(forward), line(static_cast<size_t>(length)) {
    fft.SetFlag(Eigen::FFT<T>::Unscaled);
    if (largest_factor(length) > kLargestFactor) prepare_convolution();
    spectrum.resize(line.size());
    transform(true);  // makes the tables of the FFT, so that run() allocates nothing
    transform(false);
  }

  void prepare_convolution() {
    const auto n = static_cast<size_t>(length);
    size_t padded = 1;
    while (padded < 2 * n - 1) padded *= 2;
    line.resize(padded);
    spectrum.resize(padded);
    chirp.resize(n);
    for (size_t k = 0; k < n; ++k) {
      // k^2 modulo 2 n, the period of the exponential, so that the angle is exact for large k.
      double angle = 3.14159265358979323846 * static_cast<double>(k * k % (2 * n)) / static_cast<double>(n);
      chirp[k] = Number(static_cast<T>(std::cos(angle)), static_cast<T>(forward ? -std::sin(angle) : std::sin(angle)));
    }
    for (size_t k = 0; k < n; ++k) line[k] = line[(padded - k) % padded] = std::conj(chirp[k]);
    transform(true);
    kernel = spectrum;
    const T scale = T(1) / static_cast<T>(padded);
    for (Number& number : kernel) number *= scale;
    std::fill(line.begin(), line.end(), Number(0));
  }

  // spectrum = the transform of line, or line = the inverse transform of spectrum, times the length
  void transform(bool to_spectrum) {
    const auto n = static_cast<Eigen::Index>(line.size());
    if (n == 1) return;  // the FFT would read beyond its tables
    if (to_spectrum) fft.fwd(spectrum.data(), line.data(), n);
    else fft.inv(line.data(), spectrum.data(), n);
  }

  static Number times(Number a, Number b) {
    return Number(a.real() * b.real() - a.imag() * b.imag(), a.imag() * b.real() + a.real() * b.imag());
  }

  void run() {
    const auto n = static_cast<size_t>(length);
    if (n == 1) return;  // its own transform
    if (chirp.empty()) {
      if (forward) transform(true), std::swap(line, spectrum);
      else std::swap(line, spectrum), transform(false);
      return;
    }
    for (size_t k = 0; k < n; ++k) line[k] = times(line[k], chirp[k]);
    std::fill(line.begin() + length, line.end(), Number(0));
    transform(true);
    for (size_t k = 0; k < line.size(); ++k) spectrum[k] = times(spectrum[k], kernel[k]);
    transform(false);
    for (size_t k = 0; k < n; ++k) line[k] = times(line[k], chirp[k]);
  }
};

template <class T>
FourierLine<T>::FourierLine(int64_t length, bool forward) : state_(std::make_unique<State>(length, forward)) {}
template <class T>
FourierLine<T>::FourierLine(FourierLine&&) noexcept = default;
template <class T>
FourierLine<T>::~FourierLine() = default;
template <class T>
Complex<T>* FourierLine<T>::line() {
  return reinterpret_cast<Complex<T>*>(state_->line.data());  // the same memory
}
template <class T>
void FourierLine<T>::run() {
  state_->run();
}

template class FourierLine<float>;
template class FourierLine<double>;

}  // namespace paddle_mini
