// Schemas of reductions.
#include "core/second_gradient.h"
#include "ops/family/reduction.h"

namespace paddle_mini {
namespace {

Shape out_shape(const InferContext& c) {
  const Shape& x = c.shape("X");
  std::vector<bool> reduced = reduced_axes(x.rank(), c.attr<std::vector<int32_t>>("dim"), c.attr<bool>("reduce_all"));
  return reduced_shape(x, reduced, c.attr<bool>("keep_dim"));
}

}  // namespace

void infer_reduction(InferContext& c, DType otherwise) {
  require_tensors(c);
  c.set_output("Out", c.attr<int32_t>("out_dtype") < 0 ? otherwise : c.dtype_attr("out_dtype"), out_shape(c));
}

OpSchema reduction(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "X's shape without the reduced axes")
      .attr("dim", std::vector<int32_t>{0}, "the axes to reduce; empty: all")
      .attr("keep_dim", false, "whether a reduced axis stays as a dimension of 1")
      .attr("reduce_all", false, "whether all axes are reduced; then `dim` is not used")
      .attr("in_dtype", -1, "not read: the element type is that of X")
      .attr("out_dtype", -1, "element type of Out; -1: chosen by the operator. Only sums and means look at it",
            at_least(-1));
}

OpSchema reduction_gradient(const OpTable& ops, const char* forward) {
  return linear_gradient_of(ops, forward).infer([](InferContext& c) {
    Shape out = out_shape(c);
    require<ShapeError>(same_shape(out, c.shape("Out@GRAD")), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                        ", Out has ", out.str());
    gradients_like_inputs(c);
  });
}

}  // namespace paddle_mini
