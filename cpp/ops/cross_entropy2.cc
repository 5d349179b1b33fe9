// cross_entropy2: Y = -log(X[label]), row by row
#include <cmath>

#include "core/op_table.h"
#include "ops/family/class_labels.h"
#include "math/number.h"

namespace paddle_mini {
namespace {

// Replaces -log(0) by 1e20, so that a sum of losses stays finite; NaN stays NaN.
template <class T>
PM_HD T finite_loss(T loss) {
  return std::isinf(loss) ? std::copysign(T(1e20), loss) : loss;
}

template <class T>
struct CrossEntropy2Kernel : Kernel {
  In<T> x;
  IndexIn label;
  Out<T> y, match;
  int64_t classes, rows, ignored;

  explicit CrossEntropy2Kernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), y(init, "Y"), match(init, "MatchX"),
        classes(x.shape()[x.shape().rank() - 1]), rows(y.numel()), ignored(init.attr<int32_t>("ignore_index")) {}

  void refuse(const Fault& fault) const override { refuse_class_label(fault.value, fault.at, classes, ignored); }

  void run(KernelContext& context) override;
};

template <class T>
struct CrossEntropyGrad2Kernel : Kernel {
  In<T> y_gradient, match;
  IndexIn label;
  Out<T> x_gradient;
  int64_t classes, rows, ignored;

  explicit CrossEntropyGrad2Kernel(KernelInit& init)
      : y_gradient(init, "Y@GRAD"), match(init, "MatchX"), label(init, "Label"), x_gradient(init, "X@GRAD"),
        classes(x_gradient.shape()[x_gradient.shape().rank() - 1]), rows(match.numel()),
        ignored(init.attr<int32_t>("ignore_index")) {}

  void refuse(const Fault& fault) const override { refuse_class_label(fault.value, fault.at, classes, ignored); }

  void run(KernelContext& context) override;
};

// Checks that Label has one label for each row of X [..., classes]: its shape is [..., 1] or [...].
void require_cross_entropy2_labels(const InferContext& c, const Shape& x) {
  require_index(c, "Label");
  Shape label = c.shape("Label"), bare;
  for (int i = 0; i + 1 < x.rank(); ++i) bare.push_back(x[i]);
  Shape column = bare;
  column.push_back(1);
  require<ShapeError>(shapes_agree(label, bare) || shapes_agree(label, column), "Label has shape ", label.str(), ", X ",
                      x.str(), ": Label must have one element for each row");
}

void infer_cross_entropy2(InferContext& c) {
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 1, "X has no dimensions; the last one must be that of the classes");
  require_cross_entropy2_labels(c, x);
  Shape match = x, y = c.shape("Label"), x_shape = x;
  match[x.rank() - 1] = 1;
  if (y.rank() == x.rank()) y = match;
  x_shape.push_back(0);
  c.set_output("Y", c.input("X").dtype, y);
  c.set_output("MatchX", c.input("X").dtype, match);
  c.set_output("XShape", c.input("X").dtype, x_shape);
}

void infer_cross_entropy_grad2(InferContext& c) {
  const Shape& x_shape = c.shape("XShape");
  require<ShapeError>(x_shape.rank() >= 2, "XShape has shape ", x_shape.str(),
                      ", it must be that of X with a last dimension of 0 appended");
  Shape x, match;
  for (int i = 0; i + 1 < x_shape.rank(); ++i) x.push_back(x_shape[i]);
  require_cross_entropy2_labels(c, x);
  match = x;
  match[x.rank() - 1] = 1;
  require_same_dtype(c, "Y@GRAD", "MatchX");
  require_same_shape(c, "Y@GRAD", c.shape("Label").rank() == x.rank() ? "MatchX" : "Label");
  require<ShapeError>(shapes_agree(c.shape("MatchX"), match), "MatchX has shape ", c.shape("MatchX").str(), ", X has ",
                      x.str());
  c.set_output("X@GRAD", c.input("Y@GRAD").dtype, x);
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(cross_entropy2)

namespace paddle_mini {

void define_cross_entropy2(OpTable& ops) {
  ops.add(OpSchema("cross_entropy2")
              .doc("Y = -log(X[label]) for every row of probabilities X; 0 where the label is ignore_index, 1e20 where "
                   "X[label] is 0. A label out of range is an error.")
              .input("X", "[..., classes]: probabilities")
              .input("Label", "[..., 1] or [...], int32 or int64")
              .output("Y", "shape of Label")
              .output("MatchX", "[..., 1]: X[label]")
              .output("XShape", "X's shape and a dimension of 0: stores X's shape without data")
              .attr("ignore_index", -100, "rows with this label have loss 0")
              .infer(infer_cross_entropy2)
              .gradient("cross_entropy_grad2", {"Label", "MatchX", "XShape", "Y@GRAD"}, {"X@GRAD"})
              .checks_data()
              .on_gpu()
              .kernels<CrossEntropy2Kernel, float, double>());
  ops.add(ops.gradient_of("cross_entropy2")
              .doc("X@GRAD = -Y@GRAD / MatchX at the label, and 0 elsewhere.")
              .infer(infer_cross_entropy_grad2)
              .dtype_from_input("Y@GRAD")
              .checks_data()
              .kernels<CrossEntropyGrad2Kernel, float, double>());
}

}  // namespace paddle_mini
