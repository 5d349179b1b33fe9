// Shapes with one dimension of an input: fill_constant_batch_size_like, uniform_random_batch_size_like.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// For sequences, the batch size is their number, not the number of rows.
inline int64_t batch_size(const VarInfo& input, int axis) {
  if (axis > 0) return input.shape[axis];
  if (!input.lod.empty()) return static_cast<int64_t>(input.lod.back().size()) - 1;
  return input.lod_level > 0 ? -1 : input.shape[axis];
}

inline Shape filled_shape(const InferContext& c) {
  const std::vector<int32_t>& dims = c.attr<std::vector<int32_t>>("shape");
  Shape out;
  for (int32_t dim : dims) out.push_back(dim);
  const Shape& input = c.shape("Input");
  require<ShapeError>(input.rank() > 0 && out.rank() > 0, "Input ", input.str(), " or shape ", out.str(),
                      " has no dimensions");
  int from = normal_axis(c.attr<int32_t>("input_dim_idx"), input.rank(), "input_dim_idx");
  int to = normal_axis(c.attr<int32_t>("output_dim_idx"), out.rank(), "output_dim_idx");
  out[to] = batch_size(c.input("Input"), from);
  for (int i = 0; i < out.rank(); ++i) {
    require<ProgramError>(i == to || out[i] >= 0, "attribute 'shape' has the dimension ", out[i]);
  }
  if (out.known()) out.numel();  // throws if it is too large
  return out;
}

// A schema without doc, gradient and kernels.
inline OpSchema batch_size_like(const char* type) {
  return OpSchema(type)
      .shape_input("Input", "any shape except []; only its shape and its sequences are read")
      .output("Out",
              "of shape `shape`; dimension output_dim_idx is that of Input at input_dim_idx or, if Input has "
              "sequences, the number of sequences of the last level")
      .required_attr("shape", AttrType::Ints, "shape of Out; the element at output_dim_idx is not read")
      .attr("input_dim_idx", 0, "the dimension of Input; negative ones count from the end")
      .attr("output_dim_idx", 0, "the dimension of Out; negative ones count from the end")
      .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out")
      .infer([](InferContext& c) {
        require_tensors(c);
        c.set_output("Out", c.dtype_attr("dtype"), filled_shape(c));
      })
      .custom_lod()  // Out has no sequences
      .dtype_from_output("Out")
      .on_gpu();
}

}  // namespace paddle_mini
