// clip_by_norm: Out = X max_norm / |X| where |X| > max_norm, else X
#include <cmath>

#include "core/op_table.h"
#include "math/selected_rows.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

template <class T>
struct NormLimit {
  const double* squares;
  double max_norm;
  PM_HD Times<T> bind_scalars() const {
    double norm = std::sqrt(*squares);
    return {static_cast<T>(norm > max_norm ? max_norm / norm : 1)};
  }
};

template <class T>
struct ClipByNormKernel : Kernel {
  In<T> x;
  Out<T> out;
  double max_norm;
  Scratch<double> squares;
  int64_t width = 1;
  RowMerge merge;
  std::vector<RowValues<T>> lists{1};

  explicit ClipByNormKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), max_norm(static_cast<double>(init.attr<float>("max_norm"))), squares(init, 1) {
    if (!x.is_rows()) return;
    width = x.shape().numel(1, x.shape().rank());
    merge = RowMerge(x.shape()[0]);
  }

  void run(KernelContext& context) override {
    const T* from = x.data();
    if (x.is_rows()) {
      lists[0] = {&x.variable().rows, x.data()};
      merge.run(context, lists, width, out.data());
      out.variable().set_rows(merge.rows());
      from = out.data();
    }
    int64_t n = out.numel();
    sum_to(context, n, Squared{}, squares.data(), from);
    map(context, n, NormLimit<T>{squares.data(), max_norm}, out.data(), from);
  }
};

}  // namespace

void define_clip_by_norm(OpTable& ops) {
  ops.add(OpSchema("clip_by_norm")
              .doc("Out = X max_norm / |X| where the Euclidean norm |X| is above max_norm, else X. Duplicate rows of "
                   "selected rows are merged first, so the norm is that of the dense gradient.")
              .input("X", "any shape; a tensor or selected rows")
              .output("Out", "shape of X")
              .required_attr("max_norm", AttrType::Float, "the largest norm that stays unchanged", at_least(0))
              .accepts_selected_rows("X")
              .infer([](InferContext& c) {
                if (c.input("X").kind != VarKind::Tensor) require_rows(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .no_gradient("it clips gradients, which have no second derivative here")
              .on_gpu()
              .kernels<ClipByNormKernel, float, double>());
}

}  // namespace paddle_mini
