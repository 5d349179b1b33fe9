// The target shape in `shape`, an attribute or tensors, of reshape and reshape2.
#pragma once

#include <vector>

#include "core/error.h"
#include "core/op_desc.h"
#include "core/shape.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {

// 0 copies X's dimension at that index; a single -1 is computed from the others. Copied dimensions cancel on both
// sides, so the -1 may be computed even if they are unknown.
inline Shape reshaped(const Shape& x, const std::vector<int32_t>& wanted) {
  Shape out, x_rest;
  int64_t rest = 1;
  int to_work_out = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t dim = wanted[i];
    require<ProgramError>(dim >= -1, "attribute 'shape' has the dimension ", dim);
    if (dim == 0) {
      require<ShapeError>(static_cast<int>(i) < x.rank(), "shape copies dimension ", i, " of X, which has shape ",
                          x.str());
      dim = x[static_cast<int>(i)];
    } else if (dim == -1) {
      require<ProgramError>(to_work_out < 0, "attribute 'shape' has -1 at ", to_work_out, " and at ", i,
                            ": only one dimension can be computed");
      to_work_out = static_cast<int>(i);
    } else {
      require<ShapeError>(dim <= (int64_t{1} << 48) / rest, "attribute 'shape' has too many elements");
      rest *= dim;
    }
    out.push_back(dim);
  }
  for (int i = 0; i < x.rank(); ++i) {
    if (i >= static_cast<int>(wanted.size()) || wanted[i] != 0) x_rest.push_back(x[i]);
  }
  if (!x_rest.known()) return out;
  int64_t count = x_rest.numel();
  require<ShapeError>(to_work_out < 0 ? count == rest : count % rest == 0, "X ", x.str(), " does not fit into ",
                      show(AttrValue(wanted)));
  if (to_work_out >= 0) out[to_work_out] = count / rest;
  return out;
}

inline const TensorAttrs& reshape_ports() {
  static const TensorAttrs ports{{"shape", "Shape", "ShapeTensor"}};
  return ports;
}

inline Shape reshaped(InferContext& c) {
  if (auto op = settled(c, reshape_ports())) return reshaped(c.shape("X"), attr_of<std::vector<int32_t>>(*op, "shape"));
  return open_shape(c, reshape_ports()[0]);
}

}  // namespace paddle_mini
