// The schema of functions of all elements along an axis: softmax and log_softmax.
#pragma once

#include "math/axis_lines.h"
#include "ops/family/unary.h"

namespace paddle_mini {

// A schema without doc and kernels; its gradient needs Out (same_shape_gradient).
inline OpSchema axis_function(const std::string& type) {
  return unary(type.c_str())
      .attr("axis", -1, "the axis; negative ones count from the end")
      .infer([](InferContext& c) {
        require_tensors(c);
        check_axis(c.shape("X"), c.attr<int32_t>("axis"));
        c.set_output("Out", c.input("X"));
      })
      .gradient(type + "_grad", {"Out", "Out@GRAD"}, {"X@GRAD"});
}

}  // namespace paddle_mini
