// arg_max and arg_min: the position of the extreme element along an axis.
#pragma once

#include "core/op_table.h"
#include "math/axis_lines.h"

namespace paddle_mini {

// Better(a, b): whether a is preferred to b. Ties select the first element; NaN is preferred to all numbers.
template <class Better>
struct ArgExtremeKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Variable& out;
    AxisLines lines;

    explicit For(KernelInit& init) : x(init, "X"), out(*init.output("Out")) {
      if (init.attr<bool>("flatten")) lines.length = x.numel();
      else lines = AxisLines(x.shape(), init.attr<int64_t>("axis"));
    }

    void run(KernelContext& context) override;
    // On a GPU:
    template <class Index>
    void run_to(KernelContext& context);
  };
};

inline void infer_arg_extreme(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  bool keep = c.attr<bool>("keepdims"), flatten = c.attr<bool>("flatten");
  int64_t axis = c.attr<int64_t>("axis");
  if (!flatten) check_axis(x, axis);
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    bool gone = flatten || i == normal_axis(axis, x.rank(), "axis");
    require<ShapeError>(!gone || x[i] != 0, "X has shape ", x.str(), ": it has no elements along the axis");
    if (!gone) out.push_back(x[i]);
    else if (keep) out.push_back(1);
  }
  DType dtype = c.attr<int32_t>("dtype") == -1 ? DType::Int64 : c.dtype_attr("dtype");
  require<ProgramError>(dtype == DType::Int32 || dtype == DType::Int64, "attribute 'dtype' is ", name_of(dtype),
                        ", it must be int32 or int64");
  c.set_output("Out", dtype, out);
}

// A schema without the operator's own items: doc, kernels.
inline OpSchema arg_extreme(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "X's shape without the axis, int32 or int64")
      .required_attr("axis", AttrType::Long, "the axis; negative ones count from the end")
      .attr("keepdims", false, "whether the axis stays as a dimension of 1")
      .attr("flatten", false, "whether X is flattened first; then `axis` is not used")
      .attr("dtype", static_cast<int32_t>(DType::Int64), "element type of Out: int32 or int64; -1: int64")
      .infer(infer_arg_extreme)
      .no_gradient("positions are integers, which have no gradient");
}

}  // namespace paddle_mini

#include PM_FAMILY(arg_extreme)
