// Along the last axis row by row; along another one whole rows of the axes after it at a time.
#include "math/softmax.h"

#include <limits>

#include "math/map.h"

namespace paddle_mini {
namespace {

// NaN need not come through: it does in the sum.
template <class T>
T max_of(const T* x, int64_t n) {
  constexpr int64_t step = Vec<T>::size;
  T result = -std::numeric_limits<T>::infinity();
  int64_t i = 0;
  if (n >= step) {
    Vec<T> largest = Vec<T>::load(x);
    for (i = step; i + step <= n; i += step) largest = maximum(largest, Vec<T>::load(x + i));
    result = max_of_lanes(largest);
  }
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

}  // namespace

Softmax::Softmax(const Shape& x, int axis) {
  if (x.rank() == 0) return;
  outer_ = x.numel(0, axis);
  size_ = x[axis];
  inner_ = x.numel(axis + 1, x.rank());
}

template <class T>
void Softmax::run(Device& device, const T* x, T* out, T* scratch) const {
  if (size_ == 0) return;
  if (inner_ == 1) {
    for (int64_t row = 0; row < outer_; ++row, x += size_, out += size_) {
      T largest = max_of(x, size_);
      map(device, size_, [largest](auto v) { return exp(v - decltype(v)(largest)); }, out, x);
      T factor = static_cast<T>(1 / map_sum(device, size_, [](auto v) { return v; }, static_cast<const T*>(out)));
      map(device, size_, [factor](auto v) { return v * decltype(v)(factor); }, out, static_cast<const T*>(out));
    }
    return;
  }
  T *largest = scratch, *total = scratch + inner_;
  for (int64_t block = 0; block < outer_; ++block, x += size_ * inner_, out += size_ * inner_) {
    std::copy_n(x, inner_, largest);
    for (int64_t i = 1; i < size_; ++i) {
      map(device, inner_, [](auto a, auto b) { return maximum(a, b); }, largest, static_cast<const T*>(largest), x + i * inner_);
    }
    std::fill_n(total, inner_, T(0));
    for (int64_t i = 0; i < size_; ++i) {
      T* to = out + i * inner_;
      map(device, inner_, [](auto v, auto m) { return exp(v - m); }, to, x + i * inner_, static_cast<const T*>(largest));
      map(device, inner_, [](auto s, auto v) { return s + v; }, total, static_cast<const T*>(total), static_cast<const T*>(to));
    }
    for (int64_t i = 0; i < size_; ++i) {
      T* to = out + i * inner_;
      map(device, inner_, [](auto v, auto s) { return v / s; }, to, static_cast<const T*>(to), static_cast<const T*>(total));
    }
  }
}

template <class T>
void Softmax::gradient(Device& device, const T* out, const T* gradient, T* x_gradient, T* scratch) const {
  if (inner_ == 1) {
    for (int64_t row = 0; row < outer_; ++row, out += size_, gradient += size_, x_gradient += size_) {
      T dot = static_cast<T>(map_sum(device, size_, [](auto y, auto g) { return y * g; }, out, gradient));
      map(device, size_, [dot](auto y, auto g) { return y * (g - decltype(g)(dot)); }, x_gradient, out, gradient);
    }
    return;
  }
  T* dot = scratch;
  for (int64_t block = 0; block < outer_; ++block) {
    std::fill_n(dot, inner_, T(0));
    for (int64_t i = 0; i < size_; ++i) {
      map(device, inner_, [](auto s, auto y, auto g) { return s + y * g; }, dot, static_cast<const T*>(dot), out + i * inner_,
          gradient + i * inner_);
    }
    for (int64_t i = 0; i < size_; ++i) {
      map(device, inner_, [](auto y, auto g, auto s) { return y * (g - s); }, x_gradient + i * inner_, out + i * inner_,
          gradient + i * inner_, static_cast<const T*>(dot));
    }
    out += size_ * inner_, gradient += size_ * inner_, x_gradient += size_ * inner_;
  }
}

template void Softmax::run<float>(Device&, const float*, float*, float*) const;
template void Softmax::run<double>(Device&, const double*, double*, double*) const;
template void Softmax::gradient<float>(Device&, const float*, const float*, float*, float*) const;
template void Softmax::gradient<double>(Device&, const double*, const double*, double*, double*) const;

}  // namespace paddle_mini
