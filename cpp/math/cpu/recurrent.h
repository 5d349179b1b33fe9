// Activations of recurrent layers, their loops over sequences, and sums over rows.
#pragma once

#include "core/infer.h"
#include "math/cpu/each_item.h"
#include "math/cpu/exp_below.h"
#include "math/map.h"
#include "math/rnn_cells.h"

namespace paddle_mini {

#ifdef __AVX512F__
// 1 / x. A step of Newton's method squares the error of the estimate, 2^-14; a division takes four times as long.
inline Vec<float> one_by(Vec<float> x) {
  const Vec<float> near(_mm512_rcp14_ps(x.p)), rest(_mm512_fnmadd_ps(x.p, near.p, _mm512_set1_ps(1)));
  return multiply_add(near, rest, near);
}
#else
inline Vec<float> one_by(Vec<float> x) { return Vec<float>(1) / x; }
#endif

// With e = exp(-|x|), which can't overflow, 1 / (1 + e) for x >= 0 and e / (1 + e) below.
inline Vec<float> logistic(Vec<float> x) {
  const Vec<float> e = exp_below(-abs(x)), above = one_by(Vec<float>(1) + e);
  return select(x < Vec<float>(0), e * above, above);
}

// (1 - e) / (1 + e) with e = exp(-2 |x|); below 0.625, where that loses digits, a polynomial in x^2 of tanh(x) / x with a
// relative error of 5e-9.
inline Vec<float> cell_tanh(Vec<float> x) {
  static constexpr float c[] = {-0.33333282f, 0.13331442f, -0.0537397f, 0.02063903f, -0.00570493f};
  const Vec<float> z = abs(x), square = x * x, one(1), e = exp_below(Vec<float>(-2) * z);
  const Vec<float> near = multiply_add(x * square, polynomial(c, square), x), far = (one - e) * one_by(one + e);
  return select(z < Vec<float>(0.625f), near, select(x < Vec<float>(0), -far, far));
}

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

// Adds a row to all rows of `to` [rows, n].
template <class T>
void add_to_rows(KernelContext& context, int64_t rows, int64_t n, const T* row, T* to) {
  each_item(context, {rows, bytes_cost(3.0 * sizeof(T)) * static_cast<double>(n)},
            [&](int64_t i) { add_row(context, n, row, to + i * n); });
}

// Calls f(first column, number of columns) for ranges of the columns of [rows, n].
template <class F>
void each_column_range(KernelContext& context, int64_t n, int64_t rows, double element, F f) {
  parallel_for(context, {n, bytes_cost(2 * element) * static_cast<double>(rows), 64},
               [&](int64_t begin, int64_t end) { f(begin, end - begin); });
}

// The sum of all rows of `from` [rows, n].
template <class T>
void sum_rows(KernelContext& context, int64_t rows, int64_t n, const T* from, T* to) {
  each_column_range(context, n, rows, sizeof(T), [&](int64_t begin, int64_t count) {
    std::fill_n(to + begin, count, T(0));
    for (int64_t i = 0; i < rows; ++i) add_row(context, count, from + i * n + begin, to + begin);
  });
}

// Calls f(begin, end) for ranges of sequences that are independent of each other. Each range reads the weights of a layer
// at each of its steps, so it has at least a few sequences.
template <class F>
void each_sequence_range(KernelContext& context, int64_t sequences, double cost, F f) {
  constexpr int64_t kFewest = 8;
  parallel_for(context, {sequences, cost, kFewest}, f);
}

}  // namespace paddle_mini
