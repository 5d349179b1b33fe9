// Kernels and the gradient's checks of operators that broadcast X to a shape.
#pragma once

#include "core/second_gradient.h"
#include "math/axis_index_map.h"

namespace paddle_mini {

struct BroadcastToKernel : AxisCopyKernel {
  explicit BroadcastToKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"),
                       broadcast_maps(init.input("X")->tensor.shape, init.output("Out")->tensor.shape, "Out")) {}
};

template <class T>
struct BroadcastToGradKernel : AxisCopyGradKernel<T> {
  explicit BroadcastToGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              broadcast_maps(init.output("X@GRAD")->tensor.shape, init.input("Out@GRAD")->tensor.shape,
                                             "Out")) {}
};

// The gradient's schema without kernels.
inline OpSchema broadcast_to_gradient(const OpTable& ops, const char* forward) {
  return linear_gradient_of(ops, forward)
      .doc("X@GRAD = the sum of Out@GRAD over the axes that were broadcast.")
      .shape_only("X")
      .infer([](InferContext& c) {
        require_tensors(c);
        require_same_dtype(c, "X", "Out@GRAD");
        broadcast_maps(c.shape("X"), c.shape("Out@GRAD"), "Out@GRAD");
        gradients_like_inputs(c);
      });
}

}  // namespace paddle_mini
