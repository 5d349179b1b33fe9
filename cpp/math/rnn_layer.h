// RnnLayer: one direction of a layer of the operator rnn, and its gradient.
//   static int64_t scratch_size(sizes, bool gradient)     elements of scratch memory
//   void run(context, products, last, out, out_step, scratch)
//     writes the states after each sequence's last step to `last`; rows of out have stride out_step
//   void run_gradient(context, out, out_gradient, out_step, last_gradient, first_gradient, x_gradient, add_to_x,
//                     weight_gradients, scratch)
//     last_gradient's members may be nullptr, which stands for 0; those of all results, for one that is not wanted
#pragma once

#include <string>

#include "core/kernel.h"
#include "math/gemm.h"

namespace paddle_mini {

enum class RnnMode { Lstm, Gru, Tanh, Relu };

inline RnnMode rnn_mode(const std::string& name) {
  if (name == "LSTM") return RnnMode::Lstm;
  if (name == "GRU") return RnnMode::Gru;
  return name == "RNN_RELU" ? RnnMode::Relu : RnnMode::Tanh;
}

// Rows are ordered by step, then batch: [steps * batch].
struct RnnSizes {
  RnnMode mode;
  int64_t steps, batch, hidden;

  PM_HD int64_t rows() const { return steps * batch; }
  PM_HD int64_t gates() const { return mode == RnnMode::Lstm ? 4 : mode == RnnMode::Gru ? 3 : 1; }
  PM_HD int64_t gate_width() const { return gates() * hidden; }
  // Values of a row that the gradient reads. LSTM: i f c~ o, then separately cell, tanh(cell). GRU: r z c~ and the
  // state's contribution to c~. Otherwise: the new state.
  PM_HD int64_t line() const { return (mode == RnnMode::Gru ? 4 : gates()) * hidden; }
  PM_HD int64_t kept() const { return line() + (mode == RnnMode::Lstm ? 2 * hidden : 0); }
};

// W_i [gates * hidden, input], W_h [gates * hidden, hidden] and two biases.
template <class P>
struct RnnWeights {
  P *input, *hidden, *input_bias, *hidden_bias;
};

// [batch, hidden] each; only LSTM has cells.
template <class P>
struct RnnStates {
  P *hidden, *cell;
};

// The number of steps of each sequence, between 0 and `steps`.
struct RnnLengths {
  int64_t steps;
  const void* data;  // int32, or int64 if `wide`; nullptr: all have `steps`
  bool wide;

  PM_HD int64_t operator[](int64_t b) const {
    if (!data) return steps;
    int64_t length = wide ? static_cast<const int64_t*>(data)[b] : static_cast<const int32_t*>(data)[b];
    return length < 0 ? 0 : length < steps ? length : steps;
  }
};

// The input, weights and kept values of one direction of a layer.
template <class T>
struct RnnPass {
  RnnSizes size;
  int64_t input;  // elements of a row of x
  bool reverse;   // processes steps from last to first
  RnnLengths lengths;
  RnnWeights<const T> weights;
  const T* x;  // [rows, input]
  T* kept;     // [rows, kept()]
  RnnStates<const T> first;

  PM_HD bool is_padding(int64_t t, int64_t b) const { return t >= lengths[b]; }
  PM_HD bool is_first(int64_t t, int64_t b) const { return reverse ? t + 1 == lengths[b] : t == 0; }
  PM_HD int64_t step(int64_t i) const { return reverse ? size.steps - 1 - i : i; }
  // The row of the previous step.
  PM_HD int64_t before(int64_t t, int64_t b) const { return (reverse ? t + 1 : t - 1) * size.batch + b; }
  PM_HD T* line(int64_t row) const { return kept + row * size.line(); }
  PM_HD T* cell_line(int64_t row) const { return kept + size.rows() * size.line() + row * 2 * size.hidden; }
};

}  // namespace paddle_mini

#include PM_LAUNCHERS(rnn_layer)
