// Layers of rnn on a CPU. One product with the input covers all steps; each step adds a product with the state.
#include "math/rnn_layer.h"

#include "core/parallel.h"
#include "math/cpu/packed_gemm.h"
#include "math/cpu/recurrent.h"

namespace paddle_mini {

namespace {

template <class T>
PackedGemm<T> product(int64_t k, int64_t n) {
  PackedGemm<T> gemm;
  gemm.k = k, gemm.n = n;
  return gemm;
}

// The gradient of the last states, with which backpropagation begins.
template <class T>
void begin_states(int64_t n, const T* from, T* to) {
  if (from) std::copy_n(from, n, to);
  else std::fill_n(to, n, T(0));
}

}  // namespace

// Calls f(begin, end) for ranges of the sequences: a range runs through all steps by itself. Each thread reads the weights
// once for a step, so a range has at least a few sequences.
template <class T>
template <class F>
void RnnLayer<T>::each_batch_range(KernelContext& context, F f) const {
  constexpr int64_t kFewest = 8;
  double flops = 2.0 * static_cast<double>(size.steps * size.hidden) * static_cast<double>(size.gate_width());
  int64_t ranges = std::min<int64_t>((size.batch + kFewest - 1) / kFewest, context.threads);
  int64_t unit = std::max<int64_t>((size.batch + ranges - 1) / std::max<int64_t>(ranges, 1), 1);
  parallel_for(context, {size.batch, flops_cost(flops), unit}, f);
}

template <class T>
int64_t RnnLayer<T>::scratch_size(const RnnSizes& size, bool gradient) {
  int64_t gates = size.gate_width(), rows = size.rows();
  if (!gradient) return size.batch * gates + 4 * size.hidden;
  return product<T>(gates, size.hidden).packed_size() + gates + rows * (size.mode == RnnMode::Gru ? 2 : 1) * gates +
         (rows + 2 * size.batch) * size.hidden;
}

template <class T>
RnnProducts<T>::RnnProducts(KernelInit& init, const RnnSizes& size, int64_t inputs, size_t input, size_t hidden)
    : of_input({false, true, size.rows(), size.gate_width(), inputs, 0, inputs, size.line()}, init, "WeightList",
               input),
      state_weights(init, "WeightList", "panels of a recurrent layer", {size.hidden, size.gate_width()},
                    product<T>(size.hidden, size.gate_width()).packed_size(), hidden) {}

template <class T>
void RnnLayer<T>::run(KernelContext& context, const RnnProducts<T>& products, const RnnStates<T>& last, T* out,
                      int64_t out_step, T* scratch) const {
  int64_t h = size.hidden, gates = size.gate_width();
  T *state = last.hidden, *cell = last.cell;
  std::copy_n(first.hidden, size.batch * h, state);
  if (size.mode == RnnMode::Lstm) std::copy_n(first.cell, size.batch * h, cell);
  bool gru = size.mode == RnnMode::Gru;
  T *bias = scratch, *share = bias + 4 * h;
  // Both biases are added together, except for the candidate of GRU.
  std::copy_n(weights.input_bias, gates, bias);
  add_row(context, gru ? 2 * h : gates, weights.hidden_bias, bias);
  if (gru) std::copy_n(weights.hidden_bias + 2 * h, h, bias + 3 * h);

  PackedGemm<T> of_state = product<T>(h, gates);
  products.of_input.run(context, x, weights.input, kept);
  const T* packed = products.state_weights.get(context, [&](T* to) { of_state.pack(weights.hidden, h, true, to); });
  each_batch_range(context, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < size.steps; ++i) {
      int64_t t = step(i), row = t * size.batch + begin;
      T* sums = gru ? share + begin * gates : line(row);
      of_state.run(context, end - begin, state + begin * h, h, packed, sums, gru ? gates : size.line(), !gru);
      for (int64_t b = begin; b < end; ++b, ++row) {
        T *to = out + row * out_step, *h_row = state + b * h, *c_row = cell + b * h;
        if (is_padding(t, b)) pad_row(row, to);
        else run_row(context, line(row), cell_line(row), bias, share + b * gates, h_row, c_row, to);
      }
    }
  });
}

// Padding values are never read, but they are part of an output, so they must be initialised.
template <class T>
void RnnLayer<T>::pad_row(int64_t row, T* out) const {
  std::fill_n(out, size.hidden, T(0));
  std::fill_n(line(row), size.line(), T(0));
  if (size.mode == RnnMode::Lstm) std::fill_n(cell_line(row), 2 * size.hidden, T(0));
}

template <class T>
void RnnLayer<T>::run_row(KernelContext& context, T* v, T* cells, const T* bias, const T* share, T* state, T* cell,
                          T* out) const {
  int64_t h = size.hidden;
  const T *in = v, *last = state, *last_cell = cell, *b = bias;
  if (size.mode == RnnMode::Lstm) {
    map(context, h, LstmCell{}, std::make_tuple(v, v + h, v + 2 * h, v + 3 * h, cells, cells + h, cell, state, out), in,
        in + h, in + 2 * h, in + 3 * h, b, b + h, b + 2 * h, b + 3 * h, last_cell);
  } else if (size.mode == RnnMode::Gru) {
    map(context, h, GruCell{}, std::make_tuple(v, v + h, v + 2 * h, v + 3 * h, state, out), in, in + h, in + 2 * h,
        share, share + h, share + 2 * h, b, b + h, b + 2 * h, b + 3 * h, last);
  } else {
    auto all = [](auto y) { return std::make_tuple(y, y, y); };
    auto to = std::make_tuple(v, state, out);
    if (size.mode == RnnMode::Relu) map(context, h, [all](auto a, auto c) { return all(Relu{}(a + c)); }, to, in, b);
    else map(context, h, [all](auto a, auto c) { return all(Tanh{}(a + c)); }, to, in, b);
  }
}

template <class T>
void RnnLayer<T>::run_gradient(KernelContext& context, const T* out, const T* out_gradient, int64_t out_step,
                               const RnnStates<const T>& last_gradient, const RnnStates<T>& first_gradient,
                               T* x_gradient, bool add_to_x, const RnnWeights<T>& to, T* scratch) const {
  int64_t h = size.hidden, gates = size.gate_width(), rows = size.rows(), states = size.batch * h;
  bool gru = size.mode == RnnMode::Gru;
  PackedGemm<T> to_state = product<T>(gates, h);
  T *part = scratch, *to_input = part + gates;
  T *to_hidden = gru ? to_input + rows * gates : to_input, *last = to_hidden + rows * gates, *packed = last + rows * h;
  T* state_gradient = first_gradient.hidden ? first_gradient.hidden : packed + to_state.packed_size();
  T* cell_gradient = first_gradient.cell ? first_gradient.cell : packed + to_state.packed_size() + states;
  begin_states(states, last_gradient.hidden, state_gradient);
  if (size.mode == RnnMode::Lstm) begin_states(states, last_gradient.cell, cell_gradient);
  to_state.pack(weights.hidden, h, false, packed);
  each_batch_range(context, [&](int64_t begin, int64_t end) {
    for (int64_t i = size.steps; i-- > 0;) {
      int64_t t = step(i), row = t * size.batch + begin;
      for (int64_t b = begin; b < end; ++b, ++row) {
        const T* from = is_padding(t, b) || is_first(t, b) ? first.hidden + b * h : out + before(t, b) * out_step;
        std::copy_n(from, h, last + row * h);
        T *x_row = to_input + row * gates, *h_row = to_hidden + row * gates;
        if (is_padding(t, b)) {
          std::fill_n(x_row, gates, T(0));
          std::fill_n(h_row, gates, T(0));
        } else {
          run_row_gradient(context, t, b, last + row * h, out_gradient + row * out_step, state_gradient + b * h,
                           cell_gradient + b * h, x_row, h_row);
        }
      }
      const T* gradients = to_hidden + (t * size.batch + begin) * gates;
      to_state.run(context, end - begin, gradients, gates, packed, state_gradient + begin * h, h, true);
    }
  });
  if (x_gradient) {
    GemmSizes<T> sizes{false, false, rows, input, gates, 0, 0, 0, T(1), add_to_x ? T(1) : T(0)};
    Gemm<T>(sizes, context.threads).run(context, to_input, weights.input, x_gradient);
  }
  if (to.input) weight_gradient(context, to_input, x, input, to.input);
  if (to.hidden) weight_gradient(context, to_hidden, last, h, to.hidden);
  if (to.input_bias) bias_gradient(context, to_input, part, to.input_bias);
  if (to.hidden_bias) bias_gradient(context, to_hidden, part, to.hidden_bias);
}

template <class T>
void RnnLayer<T>::run_row_gradient(KernelContext& context, int64_t t, int64_t b, const T* last, const T* out_gradient,
                                   T* state_gradient, T* cell_gradient, T* gx, T* gh) const {
  int64_t h = size.hidden, row = t * size.batch + b;
  const T *v = line(row), *state = state_gradient, *cell = cell_gradient;
  if (size.mode == RnnMode::Lstm) {
    const T* last_cell = is_first(t, b) ? first.cell + b * h : cell_line(before(t, b));
    const T* squashed = cell_line(row) + h;
    map(context, h, LstmCellGradient{},
        std::make_tuple(gx, gx + h, gx + 2 * h, gx + 3 * h, cell_gradient, state_gradient), v, v + h, v + 2 * h,
        v + 3 * h, squashed, last_cell, out_gradient, state, cell);
  } else if (size.mode == RnnMode::Gru) {
    map(context, h, GruCellGradient{}, std::make_tuple(gx, gx + h, gx + 2 * h, gh, gh + h, gh + 2 * h, state_gradient),
        v, v + h, v + 2 * h, v + 3 * h, last, out_gradient, state);
  } else {
    auto to = std::make_tuple(gx, state_gradient);
    auto step = [](auto slope) {
      return [slope](auto y, auto g, auto s) { return std::make_tuple((g + s) * slope.slope(y), decltype(s)(0)); };
    };
    if (size.mode == RnnMode::Relu) map(context, h, step(Relu{}), to, v, out_gradient, state);
    else map(context, h, step(Tanh{}), to, v, out_gradient, state);
  }
}

// to [gates * hidden, columns] = gradients' values; gradients [rows, gates * hidden], values [rows, columns]
template <class T>
void RnnLayer<T>::weight_gradient(KernelContext& context, const T* gradients, const T* values, int64_t columns,
                                  T* to) const {
  GemmSizes<T> sizes{true, false, size.gate_width(), columns, size.rows()};
  Gemm<T>(sizes, context.threads).run(context, gradients, values, to);
}

// The sum of all rows: first over the rows of a step, so that the error does not grow with the number of rows.
template <class T>
void RnnLayer<T>::bias_gradient(KernelContext& context, const T* gradients, T* part, T* to) const {
  int64_t gates = size.gate_width();
  double cost = bytes_cost(static_cast<double>(size.rows()) * sizeof(T));
  parallel_for(context, {gates, cost, 64}, [&](int64_t begin, int64_t end) {
    std::fill_n(to + begin, end - begin, T(0));
    for (int64_t t = 0; t < size.steps; ++t) {
      const T* rows = gradients + t * size.batch * gates + begin;
      std::fill_n(part + begin, end - begin, T(0));
      for (int64_t b = 0; b < size.batch; ++b) add_row(context, end - begin, rows + b * gates, part + begin);
      add_row(context, end - begin, static_cast<const T*>(part + begin), to + begin);
    }
  });
}

template struct RnnProducts<float>;
template struct RnnProducts<double>;
template struct RnnLayer<float>;
template struct RnnLayer<double>;

}  // namespace paddle_mini
