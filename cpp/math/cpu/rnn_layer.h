// RnnLayer on a CPU.
#pragma once

#include "math/cpu/packed_input.h"

namespace paddle_mini {

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
struct RnnLayer : RnnPass<T> {
  explicit RnnLayer(const RnnPass<T>& pass) : RnnPass<T>(pass) {}

  static int64_t scratch_size(const RnnSizes& size, bool gradient);

  void run(KernelContext& context, const RnnProducts<T>& products, const RnnStates<T>& last, T* out, int64_t out_step,
           T* scratch) const;
  void run_gradient(KernelContext& context, const T* out, const T* out_gradient, int64_t out_step,
                    const RnnStates<const T>& last_gradient, const RnnStates<T>& first_gradient, T* x_gradient,
                    bool add_to_x, const RnnWeights<T>& weight_gradients, T* scratch) const;

 private:
  using Pass = RnnPass<T>;
  using Pass::is_padding, Pass::is_first, Pass::step, Pass::before, Pass::line, Pass::cell_line;
  using Pass::size, Pass::input, Pass::weights, Pass::x, Pass::kept, Pass::first;

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
