// flatten2: Out = X as a matrix
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

Shape flattened(const Shape& x, int32_t axis) {
  require<ShapeError>(axis >= -x.rank() && axis <= x.rank(), "axis is ", axis, ", X ", x.str(), " has ", x.rank(),
                      " dimensions");
  int at = axis < 0 ? axis + x.rank() : axis;
  return {x.numel(0, at), x.numel(at, x.rank())};
}

}  // namespace

void define_flatten2(OpTable& ops) {
  add_reshaping(ops,
                reshaping("flatten2")

                    .doc("Out = X reshaped to a matrix: the axes before `axis` become rows, the others columns.")
                    .attr("axis", 1, "the first axis of the columns; negative ones count from the end")
                    .infer([](InferContext& c) { set_reshaped(c, flattened(c.shape("X"), c.attr<int32_t>("axis"))); }));
}

}  // namespace paddle_mini
