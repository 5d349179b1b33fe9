// Schemas shared by the comparison, logical and bitwise operators.
#include "ops/family/compare.h"

namespace paddle_mini {
namespace {

const char kTrueOrFalse[] = "true or false does not change smoothly with X";

InferFunction infer_stretched(bool answers) {
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
      .input("Y", "a shape that stretches over X's, or X's over Y's")
      .output("Out", "the stretched shape");
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
      .attr("axis", -1, "X's axis where Y's first dimension lies; -1: the last axes lie together", at_least(-1))
      .infer(infer_stretched(true))
      .no_gradient(kTrueOrFalse);
}

OpSchema logical(const char* type) { return of_two(type).infer(infer_stretched(true)).no_gradient(kTrueOrFalse); }

OpSchema bitwise(const char* type) {
  return of_two(type).infer(infer_stretched(false)).no_gradient("bits do not change smoothly").in_place("X", "Out");
}

}  // namespace paddle_mini
