// RnnLayer on a GPU.
#pragma once

#include "math/gemm.h"
namespace paddle_mini {

// The products of a layer with its weights: those with the input of all steps, and with the state of each.
template <class T>
struct RnnProducts {
  Gemm<T> of_input, of_state;

  // `input`, `hidden`: the indices of W_i [gates * hidden, inputs] and W_h in WeightList.
  RnnProducts(const KernelInit& init, const RnnSizes& size, int64_t inputs, size_t input, size_t hidden);
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
};

extern template struct RnnProducts<float>;
extern template struct RnnProducts<double>;
extern template struct RnnLayer<float>;
extern template struct RnnLayer<double>;

}  // namespace paddle_mini
