// transpose and transpose2, and their gradients, which apply the inverse permutation.
#pragma once

#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/transpose.h"

namespace paddle_mini {

inline std::vector<int> order_of(const std::vector<int32_t>& axis, int rank, bool backward) {
  std::vector<int> order = axes_order(axis, rank);
  return backward ? inverse_order(order) : order;
}

template <bool backward>
struct TransposeKernel : Kernel {
  const Variable& in;
  Variable& out;
  Transpose transpose;

  explicit TransposeKernel(KernelInit& init)
      : in(*init.input(backward ? "Out@GRAD" : "X")), out(*init.output(backward ? "X@GRAD" : "Out")),
        transpose(in.tensor.shape, order_of(init.attr<std::vector<int32_t>>("axis"), in.tensor.shape.rank(), backward),
                  size_of(in.tensor.dtype)) {}
  void run(KernelContext& context) override { transpose.run(context, in.tensor.data, out.tensor.data); }
};

template <bool backward>
void infer_transposed(InferContext& c) {
  require_tensors(c);
  const VarInfo& in = c.input(backward ? "Out@GRAD" : "X");
  std::vector<int> order = order_of(c.attr<std::vector<int32_t>>("axis"), in.shape.rank(), backward);
  c.set_output(backward ? "X@GRAD" : "Out", in.dtype, transposed(in.shape, order));
}

// Schemas without ports of the operator's own, and the gradient of the forward one.
inline OpSchema transposition(const char* type) {
  return OpSchema(type)
      .doc("Axis i of Out is axis axis[i] of X.")
      .input("X", "any shape")
      .output("Out", "X's dimensions in the new order")
      .required_attr("axis", AttrType::Ints, "a permutation of X's axes; negative ones count from the end")
      .infer(infer_transposed<false>)
      .on_gpu()
      .kernel_for_any<TransposeKernel<false>>();
}
inline OpSchema transposition_gradient(const OpTable& ops, const char* forward) {
  return linear_gradient_of(ops, forward)
      .doc("X@GRAD = Out@GRAD with the axes in X's order.")
      .infer(infer_transposed<true>)
      .kernel_for_any<TransposeKernel<true>>();
}

}  // namespace paddle_mini
