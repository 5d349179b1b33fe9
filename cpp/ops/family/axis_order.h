// Kernel of transpose and transpose2, and of their gradients, which apply the inverse permutation.
#pragma once

#include "core/op_table.h"
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

}  // namespace paddle_mini
