// One step of a recurrent layer on a GPU, and its gradient, for one unit of one sequence: load() reads what does not depend
// on the product with the state, store() computes the rest with its sums. So a kernel can load before it multiplies.
#pragma once

#include "cuda/launch.h"
#include "math/rnn_cells.h"
#include "math/rnn_layer.h"

namespace paddle_mini {

template <RnnMode mode>
inline constexpr int kRnnGates = mode == RnnMode::Lstm  ? 4
                                 : mode == RnnMode::Gru ? 3
                                                        : 1;

template <RnnMode mode>
inline constexpr int kRnnLine = mode == RnnMode::Gru ? 4 : kRnnGates<mode>;  // RnnSizes::line() of one unit

// to[0], to[h] and so on
template <class T, class... V>
PM_DEVICE void put_apart(T* to, int64_t h, V... values) {
  ((*to = values, to += h), ...);
}

// The activation of simple cells.
template <RnnMode mode>
using RnnActivation = std::conditional_t<mode == RnnMode::Relu, Relu, Tanh>;

template <class T, RnnMode mode>
struct RnnStep {
  static constexpr int kSums = kRnnGates<mode>;  // by gate: the state's product with a row of W_h
  RnnPass<T> pass;
  int64_t t;
  RnnStates<const T> before;
  RnnStates<T> after;
  T* out;  // [rows], with stride out_step
  int64_t out_step;

  struct Values {
    T input[kSums], bias[kSums], candidate_bias, state, cell;
    bool is_padding;
  };

  PM_DEVICE Values load(int64_t b, int64_t unit) const {
    int64_t h = pass.size.hidden, at = b * h + unit;
    const T* line = pass.line(t * pass.size.batch + b) + unit;
    Values v{};
    v.is_padding = pass.is_padding(t, b);
    v.state = before.hidden[at];
    if constexpr (mode == RnnMode::Lstm) v.cell = before.cell[at];
    for (int gate = 0; gate < kSums; ++gate) {
      v.input[gate] = line[gate * h];
      v.bias[gate] = pass.weights.input_bias[gate * h + unit];
      T own = pass.weights.hidden_bias[gate * h + unit];
      if (mode == RnnMode::Gru && gate == 2) v.candidate_bias = own;
      else v.bias[gate] += own;
    }
    return v;
  }

  PM_DEVICE void store(int64_t b, int64_t unit, const Values& v, const T (&sums)[kSums]) const {
    int64_t h = pass.size.hidden, row = t * pass.size.batch + b, at = b * h + unit;
    if (v.is_padding) return store_padding(row, unit, at, v);
    T *line = pass.line(row) + unit, hidden;
    if constexpr (mode == RnnMode::Lstm) {
      auto a = [&](int gate) { return v.input[gate] + sums[gate]; };
      auto y = LstmCell{}(a(0), a(1), a(2), a(3), v.bias[0], v.bias[1], v.bias[2], v.bias[3], v.cell);
      put_apart(line, h, std::get<0>(y), std::get<1>(y), std::get<2>(y), std::get<3>(y));
      put_apart(pass.cell_line(row) + unit, h, std::get<4>(y), std::get<5>(y));
      after.cell[at] = std::get<4>(y);
      hidden = std::get<7>(y);
    } else if constexpr (mode == RnnMode::Gru) {
      auto y = GruCell{}(v.input[0], v.input[1], v.input[2], sums[0], sums[1], sums[2], v.bias[0], v.bias[1], v.bias[2],
                         v.candidate_bias, v.state);
      put_apart(line, h, std::get<0>(y), std::get<1>(y), std::get<2>(y), std::get<3>(y));
      hidden = std::get<4>(y);
    } else {
      *line = hidden = RnnActivation<mode>{}(v.input[0] + sums[0] + v.bias[0]);
    }
    out[row * out_step + unit] = hidden;
    after.hidden[at] = hidden;
  }

  // The kept values of padding are never read, but they are part of an output, so they must be initialised.
  PM_DEVICE void store_padding(int64_t row, int64_t unit, int64_t at, const Values& v) const {
    int64_t h = pass.size.hidden;
    for (int i = 0; i < kRnnLine<mode>; ++i) pass.line(row)[i * h + unit] = T(0);
    if constexpr (mode == RnnMode::Lstm) {
      put_apart(pass.cell_line(row) + unit, h, T(0), T(0));
      after.cell[at] = v.cell;
    }
    out[row * out_step + unit] = T(0);
    after.hidden[at] = v.state;
  }
};

// The gradients of the gates of a step. The state's gradient is `after` and the product of the following step's gates with
// W_h; the gradient of the state before, without such a product, is written to `before`.
template <class T, RnnMode mode>
struct RnnStepBack {
  static constexpr int kSums = 1, kGates = kRnnGates<mode>;
  RnnPass<T> pass;
  int64_t t;
  RnnStates<const T> after;  // nullptr: 0
  RnnStates<T> before;
  const T *out, *out_gradient;  // [rows], with stride out_step
  int64_t out_step;
  T *to_input, *to_hidden;  // [rows, gates * hidden]: of what is added to the gates; not the same only for GRU
  T* last;  // [rows, hidden]: the state before the step

  struct Values {
    T line[kRnnLine<mode>], squashed, last_cell, last, to_out, to_state, to_cell;
    bool is_padding;
  };

  PM_DEVICE Values load(int64_t b, int64_t unit) const {
    int64_t h = pass.size.hidden, row = t * pass.size.batch + b, at = b * h + unit;
    Values v{};
    v.is_padding = pass.is_padding(t, b);
    v.to_state = after.hidden ? after.hidden[at] : T(0);
    if (mode == RnnMode::Lstm) v.to_cell = after.cell ? after.cell[at] : T(0);
    bool is_first = v.is_padding || pass.is_first(t, b);
    v.last = is_first ? pass.first.hidden[at] : out[pass.before(t, b) * out_step + unit];
    if (v.is_padding) return v;
    v.to_out = out_gradient[row * out_step + unit];
    for (int i = 0; i < kRnnLine<mode>; ++i) v.line[i] = pass.line(row)[i * h + unit];
    if (mode == RnnMode::Lstm) {
      v.squashed = pass.cell_line(row)[h + unit];
      v.last_cell = is_first ? pass.first.cell[at] : pass.cell_line(pass.before(t, b))[unit];
    }
    return v;
  }

  PM_DEVICE void store(int64_t b, int64_t unit, const Values& v, const T (&sums)[kSums]) const {
    int64_t h = pass.size.hidden, row = t * pass.size.batch + b, at = b * h + unit;
    T *gates = to_input + row * kGates * h + unit, to_state = v.to_state + sums[0];
    last[row * h + unit] = v.last;
    if (v.is_padding) {
      for (int gate = 0; gate < kGates; ++gate) gates[gate * h] = T(0);
      if (mode == RnnMode::Gru) put_apart(to_hidden + row * kGates * h + unit, h, T(0), T(0), T(0));
      if (mode == RnnMode::Lstm) before.cell[at] = v.to_cell;
      before.hidden[at] = to_state;
      return;
    }
    if constexpr (mode == RnnMode::Lstm) {
      auto g = LstmCellGradient{}(v.line[0], v.line[1], v.line[2], v.line[3], v.squashed, v.last_cell, v.to_out,
                                  to_state, v.to_cell);
      put_apart(gates, h, std::get<0>(g), std::get<1>(g), std::get<2>(g), std::get<3>(g));
      before.cell[at] = std::get<4>(g);
      before.hidden[at] = std::get<5>(g);
    } else if constexpr (mode == RnnMode::Gru) {
      auto g = GruCellGradient{}(v.line[0], v.line[1], v.line[2], v.line[3], v.last, v.to_out, to_state);
      put_apart(gates, h, std::get<0>(g), std::get<1>(g), std::get<2>(g));
      put_apart(to_hidden + row * kGates * h + unit, h, std::get<3>(g), std::get<4>(g), std::get<5>(g));
      before.hidden[at] = std::get<6>(g);
    } else {
      gates[0] = (v.to_out + to_state) * RnnActivation<mode>{}.slope(v.line[0]);
      before.hidden[at] = T(0);
    }
  }
};

// A step, with the sums [batch, sums * hidden] of a product that has run before; nullptr: 0.
template <class T, class Step>
struct RnnStepOfSums {
  Step step;
  const T* sums;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t h = step.pass.size.hidden, b = i / h, unit = i % h;
    T own[Step::kSums];
    for (int s = 0; s < Step::kSums; ++s) own[s] = sums ? sums[(b * Step::kSums + s) * h + unit] : T(0);
    step.store(b, unit, step.load(b, unit), own);
  }
};

}  // namespace paddle_mini
