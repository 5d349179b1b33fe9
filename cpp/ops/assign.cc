// assign: Out = X
#include "core/op_table.h"
#include "ops/family/reshape.h"

namespace paddle_mini {
namespace {

struct AssignKernel : MoveKernel {
  const Variable& x;
  Variable& out;

  explicit AssignKernel(KernelInit& init)
      : MoveKernel(init.input("X"), init.output("Out")), x(*init.input("X")), out(*init.output("Out")) {}
  void run(KernelContext& context) override {
    MoveKernel::run(context);
    if (x.is_rows()) out.set_rows(x.rows);
  }
};

}  // namespace

void define_assign(OpTable& ops) {
  ops.add(OpSchema("assign")
              .doc("Out = X, a copy.")
              .input("X", "any shape; a tensor or selected rows")
              .output("Out", "shape of X")
              .accepts_selected_rows("X")
              .infer([](InferContext& c) {
                VarKind kind = c.input("X").kind;
                require<ShapeError>(kind == VarKind::Tensor || kind == VarKind::SelectedRows, "X is ", name_of(kind),
                                    ", it must be a tensor or selected rows");
                c.set_output("Out", c.input("X"));
              })
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("assign", {{"X", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("X"))}})};
              })
              .in_place("X", "Out")
              .on_gpu()
              .kernel_for_any<AssignKernel>());
}

}  // namespace paddle_mini
