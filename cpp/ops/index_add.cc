// index_add: Out = X with AddValue added along an axis at the indices in Index
#include "core/op_table.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// Views X as [outer, length, width] around the axis.
struct AddedSlabs {
  IndexIn index;
  int64_t outer, length, width;

  AddedSlabs(const KernelInit& init, const Shape& x) : index(init, "Index") {
    int axis = normal_axis(init.attr<int32_t>("axis"), x.rank(), "axis");
    outer = x.numel(0, axis), length = x[axis], width = x.numel(axis + 1, x.rank());
  }

  void refuse(int64_t value, int64_t at) const {
    fail<OpError>("Index has ", value, " at position ", at, ": X has ", length,
                  " along the axis, so a position must be from ", -length, " to ", length - 1);
  }
  // Defined only by the CPU kernels:
  void check() const;
  template <class F>
  void each(F f) const;
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
}  // namespace paddle_mini

#include PM_KERNELS(index_add)

namespace paddle_mini {

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
              .kernels<IndexAddKernel, float, double, int32_t, int64_t>());
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
              .kernels<IndexAddGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
