// get_tensor_from_selected_rows: Out = the values of the rows of X, as a tensor
#include "core/op_table.h"

namespace paddle_mini {
namespace {

// The number of rows is known only when the operator runs, so Out's memory has room for the maximum. The kernel fills
// the rest with zeros for later operators, which were planned for the maximum.
template <class T>
struct GetTensorFromSelectedRowsKernel : Kernel {
  In<T> x;
  Out<T> out;
  int64_t most;

  explicit GetTensorFromSelectedRowsKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), most(out.numel()) {}
  void run(KernelContext&) override {
    std::copy_n(x.data(), x.numel(), out.data());
    out.variable().tensor.shape[0] = x.shape()[0];  // a fetch returns only these rows
    std::fill(out.data() + x.numel(), out.data() + most, T(0));
  }
};

}  // namespace

void define_get_tensor_from_selected_rows(OpTable& ops) {
  ops.add(
      OpSchema("get_tensor_from_selected_rows")
          .doc("Out = the values of the selected rows, in their order, not the whole table.")
          .input("X", "selected rows")
          .output("Out",
                  "[rows, ...]; operators that read it see as many rows as X can have; rows without a value are zeros")
          .accepts_selected_rows("X")
          .infer([](InferContext& c) {
            require_rows(c, "X");
            const VarInfo& x = c.input("X");
            Shape out = x.shape;
            out[0] = x.row_count;
            c.set_output("Out", x.dtype, out);
          })
          .no_gradient("it reads gradients, which have no second derivative here")
          .cpu_only("selected rows stay on the CPU")
          .kernels<GetTensorFromSelectedRowsKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
