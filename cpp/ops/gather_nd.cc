// gather_nd: Out = the slices of X at the coordinates in Index
#include "core/second_gradient.h"
#include "core/widening.h"
#include "ops/family/nd_index.h"

namespace paddle_mini {
namespace {

struct GatheredSlabs : NdIndex {
  GatheredSlabs(const KernelInit& init, const Shape& x) : NdIndex(init, x, true) {}
};

}  // namespace

void define_gather_nd(OpTable& ops) {
  ops.add(
      OpSchema("gather_nd")
          .doc("The last axis of Index, of size k, holds coordinates along X's first k axes; Out = the slices of X at "
               "these coordinates. Negative coordinates count from the end; a coordinate out of range is an error.")
          .input("X", "any shape")
          .input("Index", "[..., k], int32 or int64")
          .output("Out", "Index's dimensions except the last, then X's except the first k")
          .infer([](InferContext& c) {
            require_tensors(c);
            c.set_output("Out", c.input("X").dtype, nd_picked_shape(c, c.shape("X")));
          })
          .gradient("gather_nd_grad", {"X", "Index", "Out@GRAD"}, {"X@GRAD"})
          .checks_data("Index")
          .on_gpu()
          .kernel_for_any<PickKernel<GatheredSlabs>>());
  ops.add(also({DType::Bool},
               linear_gradient_of(ops, "gather_nd")
                   .doc("X@GRAD of a slice = the sum of Out@GRAD over the coordinates in Index that name it.")
                   .shape_only("X")
                   .checks_data("Index")
                   .kernels<PickGradKernel<GatheredSlabs>::For, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
