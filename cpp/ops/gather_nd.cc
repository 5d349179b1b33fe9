// gather_nd: Out = the slabs of X that the coordinates in Index name
#include "core/widening.h"
#include "ops/family/nd_index.h"

#include <algorithm>
#include <cstring>

namespace paddle_mini {
namespace {}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(gather_nd)

namespace paddle_mini {

void define_gather_nd(OpTable& ops) {
  ops.add(OpSpec("gather_nd")
              .doc("The last axis of Index, k long, holds coordinates along X's first k axes; Out = the slabs of X "
                   "that they name. Negative coordinates count from the end; one that X does not have is refused.")
              .input("X", "any shape")
              .input("Index", "[..., k], int32 or int64")
              .output("Out", "Index's dimensions without the last, then X's without the first k")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, nd_picked_shape(c, c.shape("X")));
              })
              .gradient("gather_nd_grad", {"X", "Index", "Out@GRAD"}, {"X@GRAD"})
              .checks_data()
              .on_gpu()
              .kernel_for_any<GatherNdKernel>());
  ops.add(also({DType::Bool}, OpSpec("gather_nd_grad")
                                  .doc("X@GRAD = the sum of Out@GRAD over the times each slab was named.")
                                  .shape_input("X", "as in gather_nd")
                                  .input("Index", "as in gather_nd")
                                  .input("Out@GRAD", "shape of Out")
                                  .output("X@GRAD", "shape of X")
                                  .infer([](InferContext& c) {
                                    require_tensors(c);
                                    Shape out = nd_picked_shape(c, c.shape("X"));
                                    require_same_dtype(c, "X", "Out@GRAD");
                                    require<ShapeError>(same_shape(out, c.shape("Out@GRAD")), "Out@GRAD has shape ",
                                                        c.shape("Out@GRAD").str(), ", Out has ", out.str());
                                    gradients_like_inputs(c);
                                  })
                                  .checks_data()
                                  .on_gpu()
                                  .kernels<GatherNdGradKernel, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
