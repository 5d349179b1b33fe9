// reshape2: Out = the elements of X, in the same order, with another shape
#include "ops/family/reshape.h"
#include "ops/family/wanted_shape.h"

namespace paddle_mini {

void define_reshape2(OpTable& ops) {
  add_reshaping(ops,
                with_tensor_ports(reshaping("reshape2"), reshape_ports())
                    .doc("Out has the elements of X, in their order, in the shape `shape`.")
                    .attr("shape", std::vector<int32_t>{},
                          "shape of Out: 0 copies X's dimension at that position, one -1 is computed from the others")
                    .infer([](InferContext& c) { set_reshaped(c, reshaped(c)); }));
}

}  // namespace paddle_mini
