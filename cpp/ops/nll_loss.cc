// nll_loss: Out = -X[label] Weight[label], where X contains log-probabilities
#include "core/op_table.h"
#include "ops/family/class_labels.h"
#include "math/copy.h"

namespace paddle_mini {
namespace {

// The rows of X [batch, classes] or [batch, classes, height, width]: the label and the selected element of row i.
template <class T>
struct NllLossRows {
  IndexIn label;
  In<T> weight;
  int64_t classes, inner, ignored;

  NllLossRows(const KernelInit& init, const Shape& x)
      : label(init, "Label"), weight(init, "Weight", optional_port), classes(x[1]), inner(x.numel(2, x.rank())),
        ignored(init.attr<int64_t>("ignore_index")) {}

  // CPU only:
  void check() const;
  bool counts(int64_t i) const;
  int64_t at(int64_t i) const;
  T weight_of(int64_t i) const;
};

template <class T>
struct NllLossKernel : Kernel {
  In<T> x;
  NllLossRows<T> rows;
  Out<T> out, total_weight;
  std::string reduction;

  explicit NllLossKernel(KernelInit& init)
      : x(init, "X"), rows(init, x.shape()), out(init, "Out"), total_weight(init, "Total_weight"),
        reduction(init.attr<std::string>("reduction")) {}

  void refuse(const Fault& fault) const override {
    refuse_class_label(fault.value, fault.at, rows.classes, rows.ignored);
  }

  void run(KernelContext& context) override;
};

template <class T>
struct NllLossGradKernel : Kernel {
  In<T> total_weight, out_gradient;
  Out<T> x_gradient;
  NllLossRows<T> rows;
  std::string reduction;

  explicit NllLossGradKernel(KernelInit& init)
      : total_weight(init, "Total_weight"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        rows(init, x_gradient.shape()), reduction(init.attr<std::string>("reduction")) {}

  void refuse(const Fault& fault) const override {
    refuse_class_label(fault.value, fault.at, rows.classes, rows.ignored);
  }

  void run(KernelContext& context) override;
};

// The shape of Out: one loss per row, or one number.
Shape nll_loss_shape(const InferContext& c) {
  require_tensors(c);
  require_index(c, "Label");
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() == 2 || x.rank() == 4, "X has shape ", x.str(), ", it must have 2 or 4 dimensions");
  Shape rows{x[0]};
  for (int i = 2; i < x.rank(); ++i) rows.push_back(x[i]);
  require<ShapeError>(shapes_agree(c.shape("Label"), rows), "Label has shape ", c.shape("Label").str(), ", with X ",
                      x.str(), " it must be ", rows.str());
  if (c.has_input("Weight")) {
    require_same_dtype(c, "X", "Weight");
    require<ShapeError>(shapes_agree(c.shape("Weight"), Shape{x[1]}), "Weight has shape ", c.shape("Weight").str(),
                        ", X ", x.str(), " has ", x[1], " classes");
  }
  return c.attr<std::string>("reduction") == "none" ? rows : Shape{};
}

void infer_nll_loss(InferContext& c) {
  c.set_output("Out", c.input("X").dtype, nll_loss_shape(c));
  c.set_output("Total_weight", c.input("X").dtype, Shape{});
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(nll_loss)

namespace paddle_mini {

void define_nll_loss(OpTable& ops) {
  ops.add(
      OpSchema("nll_loss")
          .doc("Out = -X[label] Weight[label] for every row; 0 where the label is ignore_index. Total_weight is the "
               "sum of the weights of the other rows; without reduction it is 0. A label out of range is an error.")
          .input("X", "[batch, classes] or [batch, classes, height, width]: logarithms of probabilities")
          .input("Label", "[batch] or [batch, height, width], int32 or int64")
          .optional_input("Weight", "[classes]; 1 if omitted")
          .output("Out", "[]; shape of Label without reduction")
          .output("Total_weight", "[]")
          .attr("ignore_index", int64_t{-100}, "rows with this label have loss 0")
          .attr("reduction", "mean", "none: a loss for each row; sum; mean: sum / Total_weight",
                one_of({"none", "sum", "mean"}))
          .infer(infer_nll_loss)
          .gradient("nll_loss_grad", {"X", "Label", "Weight", "Total_weight", "Out@GRAD"}, {"X@GRAD"})
          .checks_data()
          .on_gpu()
          .kernels<NllLossKernel, float, double>());
  ops.add(ops.gradient_of("nll_loss")
              .doc("X@GRAD = -Weight[label] Out@GRAD at the label and 0 elsewhere, divided like Out.")
              .input("X", "as in nll_loss; its values are not read")
              .checks_data()
              .kernels<NllLossGradKernel, float, double>());
}

}  // namespace paddle_mini
