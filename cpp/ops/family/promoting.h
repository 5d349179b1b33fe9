// Elementwise operators of two inputs of which one may be real and the other complex.
#pragma once

#include "core/promotion.h"
#include "math/broadcast.h"

namespace paddle_mini {

// infer_broadcast of those that promotes_complex.
inline void infer_promoting_broadcast(InferContext& c) {
  require_tensors(c);
  DType dtype = promoted_dtype(c, "X", "Y");
  c.set_output("Out", dtype, broadcast_shape(c.shape("X"), c.shape("Y"), c.attr<int32_t>("axis")));
}

}  // namespace paddle_mini
