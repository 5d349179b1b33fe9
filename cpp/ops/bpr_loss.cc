// bpr_loss: the mean over the other classes of log(1 + exp(their score - the label's score))
#include <algorithm>
#include <cmath>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

[[noreturn]] void refuse_bpr_label(int64_t id, int64_t row, int64_t classes) {
  fail<OpError>("label ", id, " in row ", row, " is out of range: X has ", classes, " classes");
}

template <class T>
struct BprLossKernel : Kernel {
  In<T> x;
  IndexIn label;
  Out<T> y;
  int64_t rows, classes;

  explicit BprLossKernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), y(init, "Y"), rows(y.numel()), classes(x.shape()[x.shape().rank() - 1]) {}

  void refuse(const Fault& fault) const override { refuse_bpr_label(fault.value, fault.at, classes); }

  void run(KernelContext& context) override;
};

template <class T>
struct BprLossGradKernel : Kernel {
  In<T> x, y_gradient;
  IndexIn label;
  Out<T> x_gradient;
  int64_t rows, classes;

  explicit BprLossGradKernel(KernelInit& init)
      : x(init, "X"), y_gradient(init, "Y@GRAD"), label(init, "Label"), x_gradient(init, "X@GRAD"),
        rows(y_gradient.numel()), classes(x.shape()[x.shape().rank() - 1]) {}

  void refuse(const Fault& fault) const override { refuse_bpr_label(fault.value, fault.at, classes); }

  void run(KernelContext& context) override;
};

// Returns the shape of Y.
Shape bpr_loss_shape(const InferContext& c) {
  require_tensors(c);
  require_index(c, "Label");
  Shape y = c.shape("X");
  require<ShapeError>(y.rank() >= 1, "X has shape [], it must have an axis of classes");
  int64_t& last = y[y.rank() - 1];
  require<ShapeError>(last < 0 || last >= 2, "X has shape ", y.str(), ": there must be at least two classes");
  last = 1;
  require<ShapeError>(shapes_agree(c.shape("Label"), y), "Label has shape ", c.shape("Label").str(), ", with X of ",
                      c.shape("X").str(), " it must be ", y.str());
  return y;
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(bpr_loss)

namespace paddle_mini {

void define_bpr_loss(OpTable& ops) {
  ops.add(OpSchema("bpr_loss")
              .doc("Y = the mean over the classes j other than the label of log(1 + exp(X[j] - X[label])): Bayesian "
                   "personalized ranking (Hidasi et al. 2016).")
              .input("X", "[..., classes]: scores")
              .input("Label", "int64, [..., 1]: classes")
              .output("Y", "[..., 1]")
              .infer([](InferContext& c) { c.set_output("Y", c.input("X").dtype, bpr_loss_shape(c)); })
              .gradient("bpr_loss_grad", {"X", "Label", "Y@GRAD"}, {"X@GRAD"})
              .checks_data()
              .on_gpu()
              .kernels<BprLossKernel, float, double>());
  ops.add(ops.gradient_of("bpr_loss")
              .doc("X@GRAD[j] = Y@GRAD / (classes - 1) / (1 + exp(X[label] - X[j])); X@GRAD[label] is minus the sum of "
                   "the others.")
              .checks_data()
              .kernels<BprLossGradKernel, float, double>());
}

}  // namespace paddle_mini
