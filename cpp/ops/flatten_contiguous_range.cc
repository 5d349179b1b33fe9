// flatten_contiguous_range: Out = X with the axes from start_axis to stop_axis merged into one
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

Shape flattened(const Shape& x, int32_t start, int32_t stop) {
  if (x.rank() == 0) {
    normal_axis(start, 1, "start_axis");
    normal_axis(stop, 1, "stop_axis");
    return {1};
  }
  int first = normal_axis(start, x.rank(), "start_axis"), last = normal_axis(stop, x.rank(), "stop_axis");
  require<ShapeError>(first <= last, "start_axis is ", start, ", greater than stop_axis, ", stop);
  Shape out;
  for (int i = 0; i < first; ++i) out.push_back(x[i]);
  out.push_back(x.numel(first, last + 1));
  for (int i = last + 1; i < x.rank(); ++i) out.push_back(x[i]);
  return out;
}

}  // namespace

void define_flatten_contiguous_range(OpTable& ops) {
  add_reshaping(ops, reshaping("flatten_contiguous_range")

                         .doc("Out = X reshaped: the axes from start_axis to stop_axis, inclusive, become one.")
                         .attr("start_axis", 1, "the first of them; negative ones count from the end")
                         .attr("stop_axis", 1, "the last of them; negative ones count from the end")
                         .infer([](InferContext& c) {
                           set_reshaped(c, flattened(c.shape("X"), c.attr<int32_t>("start_axis"),
                                                     c.attr<int32_t>("stop_axis")));
                         }));
}

}  // namespace paddle_mini
