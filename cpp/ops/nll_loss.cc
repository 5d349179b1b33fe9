// nll_loss: Out = -X[label] Weight[label], X the logarithm of probabilities
#include "core/op_table.h"
#include "math/class_labels.h"

namespace paddle_mini {
namespace {

// X [batch, classes] or [batch, classes, height, width]; its element of row i and its label.
template <class T>
struct Rows {
  IndexIn label;
  In<T> weight;
  int64_t classes, inner, ignored;

  Rows(const KernelInit& init, const Shape& x)
      : label(init, "Label"), weight(init, "Weight", optional_port), classes(x[1]), inner(x.numel(2, x.rank())),
        ignored(init.attr<int64_t>("ignore_index")) {}

  void check() const { check_class_labels(label, classes, ignored); }
  bool counts(int64_t i) const { return label[i] != ignored; }
  int64_t at(int64_t i) const { return (i / inner * classes + label[i]) * inner + i % inner; }
  T weight_of(int64_t i) const { return weight ? weight[label[i]] : T(1); }
};

template <class T>
struct NllLossKernel : Kernel {
  In<T> x;
  Rows<T> rows;
  Out<T> out, total_weight;
  std::string reduction;

  explicit NllLossKernel(KernelInit& init)
      : x(init, "X"), rows(init, x.shape()), out(init, "Out"), total_weight(init, "Total_weight"),
        reduction(init.attr<std::string>("reduction")) {}

  void run(Device&) override {
    rows.check();
    int64_t n = rows.label.numel();
    total_weight[0] = T(0);
    if (reduction == "none") {
      for (int64_t i = 0; i < n; ++i) out[i] = rows.counts(i) ? -x[rows.at(i)] * rows.weight_of(i) : T(0);
      return;
    }
    double loss = 0, total = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (!rows.counts(i)) continue;
      T weight = rows.weight_of(i);
      loss -= static_cast<double>(x[rows.at(i)] * weight);
      total += static_cast<double>(weight);
    }
    out[0] = static_cast<T>(reduction == "mean" && total != 0 ? loss / total : loss);
    total_weight[0] = static_cast<T>(total);
  }
};

template <class T>
struct NllLossGradKernel : Kernel {
  In<T> total_weight, out_gradient;
  Out<T> x_gradient;
  Rows<T> rows;
  std::string reduction;

  explicit NllLossGradKernel(KernelInit& init)
      : total_weight(init, "Total_weight"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        rows(init, x_gradient.shape()), reduction(init.attr<std::string>("reduction")) {}

  void run(Device&) override {
    rows.check();
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    bool each = reduction == "none";
    T divisor = reduction == "mean" && total_weight[0] != T(0) ? total_weight[0] : T(1);
    for (int64_t i = 0, n = rows.label.numel(); i < n; ++i) {
      if (!rows.counts(i)) continue;
      x_gradient[rows.at(i)] = -rows.weight_of(i) * out_gradient[each ? i : 0] / divisor;
    }
  }
};

// Out's shape: a loss a row, or one number.
Shape loss_shape(const InferContext& c) {
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

void infer_forward(InferContext& c) {
  c.set_output("Out", c.input("X").dtype, loss_shape(c));
  c.set_output("Total_weight", c.input("X").dtype, Shape{});
}

void infer_backward(InferContext& c) {
  Shape out = loss_shape(c);
  require_same_dtype(c, "X", "Out@GRAD");
  require_same_dtype(c, "X", "Total_weight");
  require_scalar(c, "Total_weight");
  require<ShapeError>(same_shape(c.shape("Out@GRAD"), out), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", Out has ", out.str());
  c.set_output("X@GRAD", c.input("X"));
}

OpSpec& with_attributes(OpSpec& spec) {
  return spec.attr("ignore_index", int64_t{-100}, "the label whose rows count nothing")
      .attr("reduction", "mean", "none: a loss for each row; sum; mean: sum / Total_weight",
            one_of({"none", "sum", "mean"}));
}

}  // namespace

void define_nll_loss(OpTable& ops) {
  OpSpec forward("nll_loss"), backward("nll_loss_grad");
  forward.doc("Out = -X[label] Weight[label] for every row; 0 where the label is ignore_index. Total_weight is the sum "
              "of the weights that count; without reduction it is 0. A label out of range is refused.")
      .input("X", "[batch, classes] or [batch, classes, height, width]: logarithms of probabilities")
      .input("Label", "[batch] or [batch, height, width], int32 or int64")
      .optional_input("Weight", "[classes]; 1 when left out")
      .output("Out", "[]; shape of Label without reduction")
      .output("Total_weight", "[]");
  with_attributes(forward)
      .infer(infer_forward)
      .gradient("nll_loss_grad", {"X", "Label", "Weight", "Total_weight", "Out@GRAD"}, {"X@GRAD"})
      .checks_data()
      .kernels<NllLossKernel, float, double>();
  backward.doc("X@GRAD = -Weight[label] Out@GRAD at the label and 0 elsewhere, divided as Out was.")
      .input("X", "as in nll_loss; its values are not read")
      .input("Label", "as in nll_loss")
      .optional_input("Weight", "as in nll_loss")
      .input("Total_weight", "of nll_loss")
      .input("Out@GRAD", "shape of Out")
      .output("X@GRAD", "shape of X");
  with_attributes(backward).infer(infer_backward).checks_data().kernels<NllLossGradKernel, float, double>();
  ops.add(forward);
  ops.add(backward);
}

}  // namespace paddle_mini
