// Copies between a tensor and its parts along an axis.
#include "ops/family/parts.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"

namespace paddle_mini {
namespace {

int axis_in_whole(const KernelInit& init, const Variable* whole) {
  return normal_axis(init.attr<int32_t>("axis"), whole->tensor.shape.rank(), "axis");
}

std::vector<int64_t> slab_numels(const KernelInit& init, const Variable* whole) {
  const Shape& shape = whole->tensor.shape;
  int axis = axis_in_whole(init, whole);
  return std::vector<int64_t>(static_cast<size_t>(shape[axis]), shape.numel(axis + 1, shape.rank()));
}

Variable* whole_of(const KernelInit& init, const char* port, bool join) {
  return join ? init.output(port) : init.input(port);
}

}  // namespace

std::vector<Variable*> inputs_of(const KernelInit& init, const char* port) {
  std::vector<Variable*> list;
  for (size_t i = 0; i < init.input_count(port); ++i) list.push_back(init.input(port, i));
  return list;
}

std::vector<Variable*> outputs_of(const KernelInit& init, const char* port) {
  std::vector<Variable*> list;
  for (size_t i = 0; i < init.output_count(port); ++i) list.push_back(init.output(port, i));
  return list;
}

SlabKernel::SlabKernel(KernelInit& init, const char* whole, const char* parts, bool join)
    : SplitOrConcatKernel(
          whole_of(init, whole, join), join ? inputs_of(init, parts) : outputs_of(init, parts),
          slab_numels(init, whole_of(init, whole, join)),
          whole_of(init, whole, join)->tensor.shape.numel(0, axis_in_whole(init, whole_of(init, whole, join))), join) {}

VarInfo stacked(const InferContext& c, const char* parts) {
  require_tensors(c);
  VarInfo out = c.input(parts);
  int axis = normal_axis(c.attr<int32_t>("axis"), out.shape.rank() + 1, "axis");
  for (size_t i = 1; i < c.input_count(parts); ++i) {
    const VarInfo& part = c.input(parts, i);
    require<ShapeError>(shapes_agree(part.shape, out.shape), parts, "[", i, "] has shape ", part.shape.str(), ", ",
                        parts, "[0] has ", out.shape.str());
    require<ShapeError>(part.dtype == out.dtype, parts, "[", i, "] is ", name_of(part.dtype), ", ", parts, "[0] is ",
                        name_of(out.dtype));
    for (int d = 0; d < out.shape.rank(); ++d) out.shape[d] = std::max(out.shape[d], part.shape[d]);
  }
  std::vector<int64_t> dims = out.shape.vector();
  dims.insert(dims.begin() + axis, static_cast<int64_t>(c.input_count(parts)));
  out.shape = Shape(dims);
  return out;
}

void set_slabs(InferContext& c, const char* whole, const char* parts) {
  require_tensors(c);
  const Shape& shape = c.shape(whole);
  require<ShapeError>(shape.rank() > 0, whole, " has no dimensions, so there is no axis to split");
  int axis = normal_axis(c.attr<int32_t>("axis"), shape.rank(), "axis");
  int64_t count = static_cast<int64_t>(c.output_count(parts));
  require<ShapeError>(dims_agree(shape[axis], count), "there are ", count, " ", parts, " for ", whole, " ", shape.str(),
                      " along axis ", axis);
  std::vector<int64_t> dims = shape.vector();
  dims.erase(dims.begin() + axis);
  for (size_t i = 0; i < c.output_count(parts); ++i) {
    c.output(parts, i) = VarInfo{VarKind::Tensor, c.input(whole).dtype, Shape(dims)};
  }
}

}  // namespace paddle_mini

#include PM_FAMILY(parts)
