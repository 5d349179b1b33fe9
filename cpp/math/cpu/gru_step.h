// GruStep: one step of a GRU with the reset gate before the product (Cho et al. 2014), and its gradient:
//   u, r = gate(x + h' W_ur), c = activation(x + (r h') W_c), h = (1 - u) h' + u c, or u h' + (1 - u) c
#pragma once

#include "core/kernel.h"
#include "math/cpu/packed_gemm.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/recurrent.h"

namespace paddle_mini {

inline constexpr const char* kGruPanels = "panels of a GRU";  // the order of PackedInput that GruStep::pack writes

template <class T>
struct GruStep {
  int64_t size;  // elements of a state
  AnyActivation gate, candidate;
  bool update_keeps;  // u is the weight of h', not of c

  int64_t packed_size() const;  // elements of the packed weights, in both directions
  double cost() const;          // expected time of one row

  // Weight is [size, 2 size] for u and r, followed by [size, size] for c.
  void pack(const T* weight, T* packed) const;
  // gates [m, 3 size] contain the sums before and the gate values after the call.
  void run(KernelContext& context, int64_t m, const T* packed, T* gates, const T* last, T* reset, T* hidden) const;

  void pack_gradient(const T* weight, T* packed) const;
  // Replaces `to_last`, the gradient of h, by the gradient of h'.
  void run_gradient(KernelContext& context, int64_t m, const T* packed, const T* gates, const T* last,
                    T* gate_gradients, T* to_last, T* to_reset) const;
  // The sum over all rows of all steps.
  void weight_gradient(KernelContext& context, int64_t rows, const T* gate_gradients, const T* last, const T* reset,
                       T* to) const;

 private:
  PackedGemm<T> product(int64_t k, int64_t n) const;
};

extern template struct GruStep<float>;
extern template struct GruStep<double>;

}  // namespace paddle_mini
