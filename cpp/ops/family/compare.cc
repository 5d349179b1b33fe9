// Schemas shared by the comparison, logical and bitwise operators.
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

const char kTrueOrFalse[] = "its output is bool";

InferFunction infer_comparison(bool answers) {
  return [answers](InferContext& c) {
    require_tensors(c);
    require_same_dtype(c, "X", "Y");
    VarInfo out = c.input("X");
    out.shape = broadcast_shape(c.shape("X"), c.shape("Y"), axis_of(c.op()));
    if (answers) out.dtype = DType::Bool;
    c.set_output("Out", out);
  };
}

OpSchema of_two(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .input("Y", "a shape that can be broadcast with X's")
      .output("Out", "the broadcast shape");
}

}  // namespace

int axis_of(const OpDesc& op) { return op.attr("axis") ? attr_of<int32_t>(op, "axis") : -1; }

OpSchema test_of(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "shape of X; bool")
      .infer([](InferContext& c) {
        require_tensors(c);
        VarInfo out = c.input("X");
        out.dtype = DType::Bool;
        c.set_output("Out", out);
      })
      .no_gradient(kTrueOrFalse);
}

OpSchema comparison(const char* type) {
  return of_two(type)
      .attr("axis", -1, "the axis of X with which Y's first dimension is aligned; -1: the last axes are aligned",
            at_least(-1))
      .infer(infer_comparison(true))
      .no_gradient(kTrueOrFalse);
}

OpSchema logical(const char* type) { return of_two(type).infer(infer_comparison(true)).no_gradient(kTrueOrFalse); }

OpSchema bitwise(const char* type) {
  return of_two(type)
      .infer(infer_comparison(false))
      .no_gradient("a bitwise operator has no derivative")
      .in_place("X", "Out");
}

}  // namespace paddle_mini
