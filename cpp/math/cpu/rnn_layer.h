// RnnLayer: one direction of a layer of the operator rnn, and its gradient.
#pragma once

#include <string>

#include "core/kernel.h"
#include "math/cpu/packed_input.h"
#include "math/gemm.h"

namespace paddle_mini {

enum class RnnMode { Lstm, Gru, Tanh, Relu };
RnnMode rnn_mode(const std::string& name);

// Rows are ordered by step, then batch: [steps * batch].
struct RnnSizes {
  RnnMode mode;
  int64_t steps, batch, hidden;

  int64_t rows() const { return steps * batch; }
  int64_t gates() const { return mode == RnnMode::Lstm ? 4 : mode == RnnMode::Gru ? 3 : 1; }
  int64_t gate_width() const { return gates() * hidden; }
  // Values of a row that the gradient reads. LSTM: i f c~ o, then separately cell, tanh(cell). GRU: r z c~ and the
  // state's contribution to c~. Otherwise: the new state.
  int64_t line() const { return (mode == RnnMode::Gru ? 4 : gates()) * hidden; }
  int64_t kept() const { return line() + (mode == RnnMode::Lstm ? 2 * hidden : 0); }
};

// W_i [gates * hidden, input], W_h [gates * hidden, hidden] and two biases. As gradients, some may be nullptr.
template <class T, class P>
struct RnnWeights {
  P *input, *hidden, *input_bias, *hidden_bias;
};

// The products of a layer with its weights: those with the input of all steps, and with the state of each. Weights that
// the program never writes are packed once.
template <class T>
struct RnnProducts {
  Gemm<T> of_input;
  PackedInput<T> state_weights;

  // `input`, `hidden`: the indices of W_i [gates * hidden, inputs] and W_h in WeightList.
  RnnProducts(KernelInit& init, const RnnSizes& size, int64_t inputs, size_t input, size_t hidden);
};

template <class T>
struct RnnLayer {
  RnnSizes size;
  int64_t input;           // elements of a row of x
  bool reverse;            // processes steps from last to first
  const int64_t* lengths;  // by sequence; nullptr: all have `steps`
  RnnWeights<T, const T> weights;
  const T* x;              // [rows, input]
  T* kept;                 // [rows, kept()]
  const T *first_state, *first_cell;  // [batch, hidden]

  static int64_t scratch_size(const RnnSizes& size, bool gradient);  // elements of scratch memory

  // state and cell are [batch, hidden] and end as those of the last step; rows of out have stride out_step.
  void run(KernelContext& context, const RnnProducts<T>& products, T* state, T* cell, T* out, int64_t out_step,
           T* scratch) const;

  // Replaces the gradients of state and cell by those of first_state and first_cell. x_gradient may be nullptr.
  void run_gradient(KernelContext& context, const T* out, const T* out_gradient, int64_t out_step, T* state_gradient,
                    T* cell_gradient, T* x_gradient, bool add_to_x, const RnnWeights<T, T>& weight_gradients,
                    T* scratch) const;

 private:
  bool is_padding(int64_t t, int64_t b) const { return lengths && t >= lengths[b]; }
  bool is_first(int64_t t, int64_t b) const { return reverse ? t + 1 == (lengths ? lengths[b] : size.steps) : t == 0; }
  int64_t step(int64_t i) const { return reverse ? size.steps - 1 - i : i; }
  // The row of the previous step.
  int64_t before(int64_t t, int64_t b) const { return (reverse ? t + 1 : t - 1) * size.batch + b; }
  T* line(int64_t row) const { return kept + row * size.line(); }
  T* cell_line(int64_t row) const { return kept + size.rows() * size.line() + row * 2 * size.hidden; }

  void pad_row(int64_t row, T* out) const;
  void run_row(KernelContext& context, T* values, T* cells, const T* bias, const T* share, T* state, T* cell,
               T* out) const;
  void run_row_gradient(KernelContext& context, int64_t t, int64_t b, const T* last, const T* out_gradient,
                        T* state_gradient, T* cell_gradient, T* to_input, T* to_hidden) const;
  template <class F>
  void each_batch_range(KernelContext& context, F f) const;
  void weight_gradient(KernelContext& context, const T* gradients, const T* values, int64_t columns, T* to) const;
  void bias_gradient(KernelContext& context, const T* gradients, T* part, T* to) const;
};

extern template struct RnnProducts<float>;
extern template struct RnnProducts<double>;
extern template struct RnnLayer<float>;
extern template struct RnnLayer<double>;

}  // namespace paddle_mini
