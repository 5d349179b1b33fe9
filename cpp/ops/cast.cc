// cast: Out = X as another element type
#include "math/cast.h"

#include "core/op_table.h"

namespace paddle_mini {
namespace {

struct CastKernel : Kernel {
  const Variable& x;
  Variable& out;
  CastFunction convert;
  int64_t planned;  // the elements that later operators read: get_tensor_from_selected_rows may show fewer

  explicit CastKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), convert(cast_function(x.tensor.dtype, out.tensor.dtype)),
        planned(out.tensor.shape.numel()) {}
  // The casts that the executor inserts also convert selected rows.
  void run(KernelContext& context) override {
    if (x.is_rows()) out.set_rows(x.rows);
    convert(context, x.is_rows() ? x.tensor.shape.numel() : planned, x.tensor.data, out.tensor.data);
  }
};

}  // namespace

void define_cast(OpTable& ops) {
  ops.add(OpSchema("cast")
              .doc("Out = X converted as in C++: conversion to integers truncates towards zero, conversion to bool "
                   "gives X != 0.")
              .input("X", "any shape")
              .output("Out", "shape of X")
              .attr("in_dtype", -1, "element type of X, to which the gradient is cast back")
              .required_attr("out_dtype", AttrType::Int, "element type of Out")
              .infer([](InferContext& c) {
                require_tensors(c);
                VarInfo out = c.input("X");
                out.dtype = c.dtype_attr("out_dtype");
                cast_function(c.input("X").dtype, out.dtype);
                c.set_output("Out", out);
              })
              .gradient([](const OpDesc& forward) {
                int32_t in = attr_of<int32_t>(forward, "in_dtype"), out = attr_of<int32_t>(forward, "out_dtype");
                require<ProgramError>(in >= 0, "attribute 'in_dtype' is missing: the gradient is cast back to it");
                return std::vector<OpDesc>{make_op("cast", {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("X"))}},
                                                   {{"in_dtype", out}, {"out_dtype", in}})};
              })
              .on_gpu()
              .kernel_for_any<CastKernel>());
}

}  // namespace paddle_mini
