// scatter_nd_add: Out = X, with Updates added to the slices at the coordinates in Index
#include "ops/family/nd_index.h"

namespace paddle_mini {
namespace {

struct NdAddedSlabs : NdIndex {
  static constexpr const char* kUpdates = "Updates";
  NdAddedSlabs(const KernelInit& init, const Shape& x) : NdIndex(init, x, false) {}
};

// Checks that X, or Out@GRAD, and Updates have fitting shapes.
void nd_add_check_updates(const InferContext& c, const char* x) {
  require_tensors(c);
  require_index(c, "Index");
  require_same_dtype(c, x, "Updates");
  const Shape &index = c.shape("Index"), &updates = c.shape("Updates");
  if (index.rank() > 0 && index[index.rank() - 1] < 0) return;
  Shape wanted = nd_picked_shape(c, c.shape(x));
  require<ShapeError>(same_shape(wanted, updates), "Updates has shape ", updates.str(), ", Index names ", wanted.str());
}

}  // namespace

void define_scatter_nd_add(OpTable& ops) {
  ops.add(OpSchema("scatter_nd_add")
              .doc("The last axis of Index, of size k, holds coordinates along X's first k axes; Out = X with Updates "
                   "added to the slices at these coordinates; duplicates are summed. A negative coordinate, or one out "
                   "of range, is an error.")
              .input("X", "any shape")
              .input("Index", "[..., k], int32 or int64")
              .input("Updates", "Index's dimensions except the last, then X's except the first k")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                nd_add_check_updates(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("scatter_nd_add_grad", {"Index", "Updates", "Out@GRAD"}, {"X@GRAD", "Updates@GRAD"})
              .in_place("X", "Out")
              .checks_data("Index")
              .on_gpu()
              .kernels<AddToSlabsKernel<NdAddedSlabs>::For, float, double, int32_t, int64_t, uint8_t>());
  ops.add(ops.gradient_of("scatter_nd_add")
              .doc("X@GRAD = Out@GRAD; Updates@GRAD = the slices of Out@GRAD that Index names.")
              .shape_only("Updates")
              .infer([](InferContext& c) {
                nd_add_check_updates(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
                c.set_output("Updates@GRAD", c.input("Updates"));
              })
              .checks_data("Index")
              .dtype_from_input("Out@GRAD")
              .kernels<SlabUpdatesGradKernel<NdAddedSlabs>::For, float, double, int32_t, int64_t, uint8_t>());
}

}  // namespace paddle_mini
