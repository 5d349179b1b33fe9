// select_rows: Out = the rows of X at the indices Rows
#include <algorithm>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
struct SelectRowsKernel : Kernel {
  In<T> x, rows;
  Out<T> out;
  int64_t width;

  explicit SelectRowsKernel(KernelInit& init)
      : x(init, "X"), rows(init, "Rows"), out(init, "Out"), width(x.shape().numel(1, x.shape().rank())) {}

  void run(KernelContext&) override {
    const std::vector<int64_t>& named = rows.variable().rows;
    out.variable().set_rows(named);
    for (size_t i = 0; i < named.size(); ++i) {
      std::copy_n(x.data() + named[i] * width, width, out.data() + static_cast<int64_t>(i) * width);
    }
  }
};

void infer_select_rows(InferContext& c) {
  require<ShapeError>(c.input("Rows").kind == VarKind::SelectedRows, "Rows is ", name_of(c.input("Rows").kind),
                      ", it must be selected rows");
  require_same_dtype(c, "X", "Rows");
  require_same_shape(c, "X", "Rows");
  require<ShapeError>(c.shape("X").rank() > 0, "X has shape [], a table needs at least one dimension");
  c.set_output("Out", c.input("Rows"));
}

}  // namespace

void define_select_rows(OpTable& ops) {
  ops.add(OpSchema("select_rows")
              .doc("Out = the rows of a table that selected rows name, as selected rows. It sends only these rows of a "
                   "table to another device, for average_rows.")
              .input("X", "[rows, ...]")
              .input("Rows", "selected rows of a table of X's shape, such as X's gradient; their values are not read")
              .output("Out", "selected rows: the indices of Rows with values from X")
              .accepts_selected_rows("Rows")
              .infer(infer_select_rows)
              .no_gradient("it is for averages of parameters, which have no gradient")
              .cpu_only("it reads the rows of a sparse gradient, which stay on the CPU")
              .kernels<SelectRowsKernel, float, double>());
}

}  // namespace paddle_mini
