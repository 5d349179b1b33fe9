// unsqueeze2: Out = X with new axes of length 1
#include "ops/family/reshape.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttrs kPorts{{"axes", "AxesTensor", "AxesTensorList"}};

// The axes are inserted one by one: each index refers to the shape after the previous insertions.
Shape unsqueezed(const Shape& x, const std::vector<int32_t>& axes) {
  std::vector<int64_t> out = x.vector();
  for (int32_t axis : axes) {
    int rank = static_cast<int>(out.size()) + 1;
    out.insert(out.begin() + normal_axis(axis, rank, "axes"), 1);
  }
  return Shape(out);
}

Shape out_shape(InferContext& c) {
  const Shape& x = c.shape("X");
  if (auto op = settled(c, kPorts)) return unsqueezed(x, attr_of<std::vector<int32_t>>(*op, "axes"));
  return open_shape(x.rank() + open_shape(c, kPorts[0]).rank());
}

}  // namespace

void define_unsqueeze2(OpTable& ops) {
  add_reshaping(ops,
                reshaping("unsqueeze2")
                    .doc("Out = X with an axis of size 1 inserted for each of axes, in their order.")
                    .attr("axes", std::vector<int32_t>{},
                          "the positions of the new axes in Out; negative ones count from the end")
                    .infer([](InferContext& c) { set_reshaped(c, out_shape(c)); }),
                kPorts);
}

}  // namespace paddle_mini
