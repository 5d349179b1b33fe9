// Activations of recurrent layers, and sums over rows.
#pragma once

#include "core/infer.h"
#include "math/map.h"

namespace paddle_mini {

struct Sigmoid {
  template <class V>
  V operator()(V x) const {
    return V(1) / (V(1) + exp(-x));
  }
  // The derivative, computed from the value y.
  template <class V>
  V slope(V y) const {
    return y * (V(1) - y);
  }
};

struct Tanh {
  template <class V>
  V operator()(V x) const {
    return tanh(x);
  }
  template <class V>
  V slope(V y) const {
    return V(1) - y * y;
  }
};

struct Relu {
  template <class V>
  V operator()(V x) const {
    return maximum(x, V(0));
  }
  template <class V>
  V slope(V y) const {
    return select(y > V(0), V(1), V(0));
  }
};

// The activation that an attribute names.
struct AnyActivation {
  enum Kind { kIdentity, kSigmoid, kTanh, kRelu } kind = kIdentity;

  AnyActivation() = default;
  explicit AnyActivation(int32_t number) : kind(static_cast<Kind>(number)) {}
  explicit AnyActivation(const std::string& name)
      : kind(name == "sigmoid" ? kSigmoid
             : name == "tanh"  ? kTanh
             : name == "relu"  ? kRelu
                               : kIdentity) {}

  template <class V>
  V operator()(V x) const {
    switch (kind) {
      case kSigmoid: return Sigmoid{}(x);
      case kTanh: return Tanh{}(x);
      case kRelu: return Relu{}(x);
      default: return x;
    }
  }
  template <class V>
  V slope(V y) const {
    switch (kind) {
      case kSigmoid: return Sigmoid{}.slope(y);
      case kTanh: return Tanh{}.slope(y);
      case kRelu: return Relu{}.slope(y);
      default: return V(1);
    }
  }
};

template <class T>
void add_row(KernelContext& context, int64_t n, const T* from, T* to) {
  map(context, n, [](auto sum, auto v) { return sum + v; }, to, static_cast<const T*>(to), from);
}

// The sum of all rows of `from` [rows, n].
template <class T>
void sum_rows(KernelContext& context, int64_t rows, int64_t n, const T* from, T* to) {
  std::fill_n(to, n, T(0));
  for (int64_t i = 0; i < rows; ++i) add_row(context, n, from + i * n, to);
}

}  // namespace paddle_mini
