// index_add: Out = X with AddValue added along an axis at the indices in Index
#include "ops/family/slabs.h"

namespace paddle_mini {
namespace {

struct AddedSlabs : AxisSlabs {
  static constexpr const char* kUpdates = "AddValue";
  AddedSlabs(const KernelInit& init, const Shape& x)
      : AxisSlabs(init, "Index", x, normal_axis(init.attr<int32_t>("axis"), x.rank(), "axis"), true) {}
};

// Checks that AddValue fits X or Out@GRAD.
void check_added(const InferContext& c, const char* x_port) {
  require_tensors(c);
  require_index(c, "Index");
  require_rank(c, "Index", 1);
  require_same_dtype(c, x_port, "AddValue");
  Shape wanted = c.shape(x_port);
  wanted[normal_axis(c.attr<int32_t>("axis"), wanted.rank(), "axis")] = c.shape("Index")[0];
  require<ShapeError>(shapes_agree(wanted, c.shape("AddValue")), "AddValue has shape ", c.shape("AddValue").str(),
                      ", Index names ", wanted.str());
}

}  // namespace

void define_index_add(OpTable& ops) {
  ops.add(OpSchema("index_add")
              .doc("Out = X with AddValue added along the axis at the positions in Index; duplicates are summed. "
                   "Negative positions count from the end; a position out of range is an error.")
              .input("X", "at least one dimension")
              .input("Index", "[n], int32 or int64")
              .input("AddValue", "shape of X with n elements along the axis")
              .output("Out", "shape of X")
              .attr("axis", 0, "the axis; negative ones count from the end")
              .infer([](InferContext& c) {
                check_added(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("index_add_grad", {"Index", "AddValue", "Out@GRAD"}, {"X@GRAD", "AddValue@GRAD"})
              .in_place("X", "Out")
              .checks_data()
              .on_gpu()
              .kernels<AddToSlabsKernel<AddedSlabs>::For, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("index_add")
              .doc("X@GRAD = Out@GRAD; AddValue@GRAD = the slices of Out@GRAD at the positions in Index.")
              .shape_only("AddValue")
              .infer([](InferContext& c) {
                check_added(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
                c.set_output("AddValue@GRAD", c.input("AddValue"));
              })
              .checks_data()
              .dtype_from_input("Out@GRAD")
              .kernels<SlabUpdatesGradKernel<AddedSlabs>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
