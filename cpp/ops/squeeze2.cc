// squeeze2: Out = X without axes of length 1
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

// Named axes longer than 1 stay, as in PaddlePaddle. An axis of unknown length is removed if it is named, and stays if
// no axes are named.
Shape squeezed(const Shape& x, const std::vector<int32_t>& axes) {
  std::vector<bool> named(static_cast<size_t>(x.rank()), axes.empty());
  for (int32_t axis : axes) {
    if (x.rank() > 0) named[normal_axis(axis, x.rank(), "axes")] = true;
    else require<ShapeError>(axis == 0 || axis == -1, "axes has ", axis, ", but X has no dimensions");
  }
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    bool gone = x[i] == 1 || (x[i] < 0 && !axes.empty());
    if (!named[i] || !gone) out.push_back(x[i]);
  }
  return out;
}

}  // namespace

void define_squeeze2(OpTable& ops) {
  add_reshaping(ops, reshaping("squeeze2")

                         .doc("Out = X without axes of size 1: those in axes, or all of them.")
                         .attr("axes", std::vector<int32_t>{},
                               "the axes to remove; negative ones count from the end; empty: all of size 1")
                         .infer([](InferContext& c) {
                           set_reshaped(c, squeezed(c.shape("X"), c.attr<std::vector<int32_t>>("axes")));
                         }));
}

}  // namespace paddle_mini
