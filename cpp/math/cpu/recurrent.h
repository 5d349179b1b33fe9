// Activations of recurrent layers, their loops over sequences, and sums over rows.
#pragma once

#include "core/infer.h"
#include "math/cpu/each_item.h"
#include "math/map.h"
#include "math/rnn_cells.h"

namespace paddle_mini {

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
