// merge_selected_rows: Out = the rows of X sorted by index, with duplicate rows summed
#include "core/op_table.h"
#include "math/selected_rows.h"

namespace paddle_mini {
namespace {

template <class T>
struct MergeSelectedRowsKernel : Kernel {
  In<T> x;
  Out<T> out;
  int64_t width;
  RowMerge merge;
  std::vector<RowValues<T>> lists{1};

  explicit MergeSelectedRowsKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), width(x.shape().numel(1, x.shape().rank())), merge(x.shape()[0]) {}
  void run(KernelContext& context) override {
    lists[0] = {&x.variable().rows, x.data()};
    merge.run(context, lists, width, out.data());
    out.variable().set_rows(merge.rows());
  }
};

}  // namespace

void define_merge_selected_rows(OpTable& ops) {
  ops.add(OpSchema("merge_selected_rows")
              .doc("Out = X with its rows sorted and duplicates merged: the values of equal rows are added.")
              .input("X", "selected rows")
              .output("Out", "selected rows of the same table")
              .accepts_selected_rows("X")
              .infer([](InferContext& c) {
                require_rows(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .no_gradient("it merges gradients, which have no second derivative here")
              .cpu_only("selected rows stay on the CPU")
              .kernels<MergeSelectedRowsKernel, float, double>());
}

}  // namespace paddle_mini
