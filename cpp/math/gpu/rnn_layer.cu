// Layers of rnn on a GPU. One product with the input covers all steps; each step multiplies the state by W_h and computes
// all gates. Back, each step computes the gradients of all gates and multiplies them by W_h; the products of all steps
// with the inputs and states are computed together.
#include "math/rnn_layer.h"

#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/gpu/fold.h"
#include "math/gpu/rnn_fused_step.h"
#include "math/transpose.h"

namespace paddle_mini {
namespace {

template <RnnMode mode>
using ModeConstant = std::integral_constant<RnnMode, mode>;

// Calls f with the mode as a constant.
template <class F>
void with_mode(RnnMode mode, F f) {
  switch (mode) {
    case RnnMode::Lstm: return f(ModeConstant<RnnMode::Lstm>{});
    case RnnMode::Gru: return f(ModeConstant<RnnMode::Gru>{});
    case RnnMode::Tanh: return f(ModeConstant<RnnMode::Tanh>{});
    case RnnMode::Relu: return f(ModeConstant<RnnMode::Relu>{});
  }
}

// Whether a step is one kernel: cuBLAS multiplies larger matrices faster.
bool is_fused(const RnnSizes& size) { return size.batch * size.hidden <= 16384; }

// A step with the product that it needs, of its values [batch, depth] and the matrix [sums * hidden, depth] or, for `gemm`,
// the matrix that the Gemm reads.
template <class T>
struct StepProduct {
  Gemm<T> gemm;
  const T* matrix;
  int64_t depth;  // columns of the values
  T* sums;  // scratch memory; nullptr: in one kernel

  // values: nullptr stands for 0
  template <class Step>
  void run(KernelContext& context, const T* values, const Step& step) const {
    if (!sums) return run_fused_step(context, values, matrix, depth, step);
    if (values) gemm.run(context, values, matrix, sums);
    const RnnSizes& size = step.pass.size;
    for_each_index(context, size.batch * size.hidden, RnnStepOfSums<T, Step>{step, values ? sums : nullptr});
  }
};

template <class T>
struct BiasTerm {
  const T* gradients;
  PM_DEVICE double operator()(const int64_t (&at)[1]) const { return gradients[at[0]]; }
};

template <class T>
struct PutBiases {
  T *one, *other;  // either may be nullptr
  PM_DEVICE void operator()(int64_t i, double sum) const {
    if (one) one[i] = static_cast<T>(sum);
    if (other) other[i] = static_cast<T>(sum);
  }
};

// The sums of the columns of gradients [rows, gates * hidden].
template <class T>
void bias_gradients(KernelContext& context, const RnnSizes& size, const T* gradients, T* one, T* other) {
  if (!one && !other) return;
  StridedIndex<1> remaining, folded;
  remaining.add(size.gate_width(), {1});
  folded.add(size.rows(), {size.gate_width()});
  fold(context, remaining, folded, 0.0, BiasTerm<T>{gradients}, Plus{}, PutBiases<T>{one, other});
}

template <class T>
void multiply(KernelContext& context, const GemmSizes<T>& sizes, const T* a, const T* b, T* c) {
  if (c) Gemm<T>(sizes, context.threads).run(context, a, b, c);
}

template <class T>
void begin_states(KernelContext& context, int64_t n, const T* from, T* to) {
  if (!to) return;
  if (from) copy_n(context, from, n, to);
  else fill_n(context, to, n, T(0));
}

// Parts of the scratch memory of run_gradient.
template <class T>
struct BackMemory {
  T *to_input, *to_hidden, *last;  // RnnStepBack's
  T *state, *cell;  // the gradients of the states before the step
  T* sums;  // for a step that is not fused
  T* transposed;  // W_h, for one that is

  BackMemory(const RnnSizes& size, const RnnStates<T>& wanted, T* scratch) {
    auto take = [&](int64_t count) {
      T* taken = scratch;
      scratch += count;
      return taken;
    };
    int64_t states = size.batch * size.hidden;
    to_input = take(size.rows() * size.gate_width());
    to_hidden = size.mode == RnnMode::Gru ? take(size.rows() * size.gate_width()) : to_input;
    last = take(size.rows() * size.hidden);
    state = wanted.hidden ? wanted.hidden : take(states);
    cell = wanted.cell ? wanted.cell : take(states);
    sums = is_fused(size) ? nullptr : take(states);
    transposed = is_fused(size) ? take(size.gate_width() * size.hidden) : nullptr;
  }
};

}  // namespace

template <class T>
RnnProducts<T>::RnnProducts(const KernelInit& init, const RnnSizes& size, int64_t inputs, size_t, size_t)
    : of_input({false, true, size.rows(), size.gate_width(), inputs, 0, inputs, size.line()}, init.threads()),
      of_state({false, true, size.batch, size.gate_width(), size.hidden}, init.threads()) {}

template <class T>
int64_t RnnLayer<T>::scratch_size(const RnnSizes& size, bool gradient) {
  int64_t states = size.batch * size.hidden, gates = size.gate_width();
  bool fused = is_fused(size);
  if (!gradient) return 2 * states + (fused ? 0 : size.batch * gates);
  int64_t rows = size.rows() * ((size.mode == RnnMode::Gru ? 2 : 1) * gates + size.hidden);
  return rows + 2 * states + (fused ? gates * size.hidden : states);
}

template <class T>
void RnnLayer<T>::run(KernelContext& context, const RnnProducts<T>& products, const RnnStates<T>& last, T* out,
                      int64_t out_step, T* scratch) const {
  const RnnSizes& size = this->size;
  int64_t states = size.batch * size.hidden;
  if (size.steps == 0) {
    begin_states(context, states, this->first.hidden, last.hidden);
    begin_states(context, states, this->first.cell, last.cell);
  }
  products.of_input.run(context, this->x, this->weights.input, this->kept);
  StepProduct<T> product{products.of_state, this->weights.hidden, size.hidden,
                         is_fused(size) ? nullptr : scratch + 2 * states};
  with_mode(size.mode, [&](auto mode) {
    RnnStep<T, decltype(mode)::value> step{*this, 0, this->first, {}, out, out_step};
    for (int64_t i = 0; i < size.steps; ++i) {
      step.t = this->step(i);
      // Not over the states before the step, which other blocks may still read.
      step.after = {i + 1 == size.steps ? last.hidden : scratch + i % 2 * states, last.cell};
      product.run(context, step.before.hidden, step);
      step.before = {step.after.hidden, step.after.cell};
    }
  });
}

template <class T>
void RnnLayer<T>::run_gradient(KernelContext& context, const T* out, const T* out_gradient, int64_t out_step,
                               const RnnStates<const T>& last_gradient, const RnnStates<T>& first_gradient,
                               T* x_gradient, bool add_to_x, const RnnWeights<T>& to, T* scratch) const {
  const RnnSizes& size = this->size;
  int64_t h = size.hidden, gates = size.gate_width(), rows = size.rows(), states = size.batch * h;
  BackMemory<T> memory(size, first_gradient, scratch);
  if (size.steps == 0) {
    begin_states(context, states, last_gradient.hidden, first_gradient.hidden);
    begin_states(context, states, last_gradient.cell, first_gradient.cell);
  }
  const T* matrix = this->weights.hidden;
  if (memory.transposed) {
    Transpose(Shape{gates, h}, {1, 0}, sizeof(T)).run(context, matrix, memory.transposed);
    matrix = memory.transposed;
  }
  StepProduct<T> product{{{false, false, size.batch, h, gates}, context.threads}, matrix, gates, memory.sums};
  const T* following = nullptr;
  with_mode(size.mode, [&](auto mode) {
    RnnStepBack<T, decltype(mode)::value> step{*this,
                                               0,
                                               last_gradient,
                                               {memory.state, memory.cell},
                                               out,
                                               out_gradient,
                                               out_step,
                                               memory.to_input,
                                               memory.to_hidden,
                                               memory.last};
    for (int64_t i = size.steps; i-- > 0;) {
      step.t = this->step(i);
      product.run(context, following, step);
      step.after = {step.before.hidden, step.before.cell};
      following = memory.to_hidden + step.t * size.batch * gates;
    }
  });
  if (following) {
    multiply(context, {false, false, size.batch, h, gates, 0, 0, 0, T(1), T(1)}, following, this->weights.hidden,
             first_gradient.hidden);
  }
  multiply(context, {false, false, rows, this->input, gates, 0, 0, 0, T(1), add_to_x ? T(1) : T(0)},
           static_cast<const T*>(memory.to_input), this->weights.input, x_gradient);
  multiply(context, {true, false, gates, this->input, rows}, static_cast<const T*>(memory.to_input), this->x, to.input);
  multiply(context, {true, false, gates, h, rows}, static_cast<const T*>(memory.to_hidden),
           static_cast<const T*>(memory.last), to.hidden);
  bool same = memory.to_hidden == memory.to_input;
  bias_gradients(context, size, memory.to_input, to.input_bias, same ? to.hidden_bias : nullptr);
  if (!same) bias_gradients(context, size, memory.to_hidden, to.hidden_bias, static_cast<T*>(nullptr));
}

template struct RnnProducts<float>;
template struct RnnProducts<double>;
template struct RnnLayer<float>;
template struct RnnLayer<double>;

}  // namespace paddle_mini
