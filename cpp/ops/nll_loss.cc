// nll_loss: Out = -X[label] Weight[label], X the logarithm of probabilities
#include "core/op_table.h"
#include "math/class_labels.h"
#include "math/copy.h"

namespace paddle_mini {
namespace {

// X [batch, classes] or [batch, classes, height, width]; its element of row i and its label.
template <class T>
struct NllLossRows {
  IndexIn label;
  In<T> weight;
  int64_t classes, inner, ignored;

  NllLossRows(const KernelInit& init, const Shape& x)
      : label(init, "Label"), weight(init, "Weight", optional_port), classes(x[1]), inner(x.numel(2, x.rank())),
        ignored(init.attr<int64_t>("ignore_index")) {}

#ifndef PM_GPU
  void check() const { check_class_labels(label, classes, ignored); }
  bool counts(int64_t i) const { return label[i] != ignored; }
  int64_t at(int64_t i) const { return (i / inner * classes + label[i]) * inner + i % inner; }
  T weight_of(int64_t i) const { return weight ? weight[label[i]] : T(1); }
#endif
};

#ifdef PM_GPU
// A row's loss and weight; none where it counts nothing.
template <class T>
struct NllTerms {
  LabelsBelow labels;
  int64_t inner;
  const T *x, *weight;
  PM_DEVICE TwoSums operator()(const int64_t (&row)[1]) const {
    int64_t label = labels[row[0]], i = row[0];
    if (label < 0) return {0, 0};
    T w = weight ? weight[label] : T(1);
    return {-static_cast<double>(x[(i / inner * labels.classes + label) * inner + i % inner] * w),
            static_cast<double>(w)};
  }
};
template <class T>
struct PutNll {
  bool mean;
  T *out, *total_weight;
  PM_DEVICE void operator()(int64_t, const TwoSums& sums) const {
    *out = static_cast<T>(mean && sums.second != 0 ? sums.first / sums.second : sums.first);
    *total_weight = static_cast<T>(sums.second);
  }
};
template <class T>
struct NllOfEach {
  NllTerms<T> terms;
  T* out;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t row[1] = {i};
    out[i] = static_cast<T>(terms(row).first);
  }
};

template <class T>
struct NllSlope {
  LabelsBelow labels;
  int64_t inner;
  bool each, mean;
  const T *weight, *gradient, *total_weight;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, labels.classes, inner);
    int64_t label = labels[place.line];
    T divisor = mean && *total_weight != T(0) ? *total_weight : T(1), w = weight && label >= 0 ? weight[label] : T(1);
    to[i] = place.at == label ? -w * gradient[each ? place.line : 0] / divisor : T(0);
  }
};
#endif

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

#ifdef PM_GPU
  void run(Device& device) override {
    int64_t n = rows.label.numel();
    NllTerms<T> terms{{device, rows.label, rows.classes, rows.ignored},
                      rows.inner,
                      x.data(),
                      rows.weight ? rows.weight.data() : nullptr};
    if (reduction == "none") {
      fill_n(device, total_weight.data(), 1, T(0));
      return for_each_index(device, n, NllOfEach<T>{terms, out.data()});
    }
    Walk<1> one, all;
    all.add(n, {1});
    fold(device, one, all, TwoSums{0, 0}, terms, PlusBoth{},
         PutNll<T>{reduction == "mean", out.data(), total_weight.data()});
  }
#else
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
#endif
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

#ifdef PM_GPU
  void run(Device& device) override {
    NllSlope<T> body{
        {device, rows.label, rows.classes, rows.ignored}, rows.inner,          reduction == "none", reduction == "mean",
        rows.weight ? rows.weight.data() : nullptr,       out_gradient.data(), total_weight.data(), x_gradient.data()};
    for_each_index(device, x_gradient.numel(), body);
  }
#else
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
#endif
};

// Out's shape: a loss a row, or one number.
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

void define_nll_loss(OpTable& ops) {
  ops.add(
      OpSpec("nll_loss")
          .doc(
              "Out = -X[label] Weight[label] for every row; 0 where the label is ignore_index. Total_weight is the sum "
              "of the weights that count; without reduction it is 0. A label out of range is refused.")
          .input("X", "[batch, classes] or [batch, classes, height, width]: logarithms of probabilities")
          .input("Label", "[batch] or [batch, height, width], int32 or int64")
          .optional_input("Weight", "[classes]; 1 when left out")
          .output("Out", "[]; shape of Label without reduction")
          .output("Total_weight", "[]")
          .attr("ignore_index", int64_t{-100}, "the label whose rows count nothing")
          .attr("reduction", "mean", "none: a loss for each row; sum; mean: sum / Total_weight",
                one_of({"none", "sum", "mean"}))
          .infer(infer_nll_loss)
          .gradient("nll_loss_grad", {"X", "Label", "Weight", "Total_weight", "Out@GRAD"}, {"X@GRAD"})
          .checks_data()
          .on_gpu()
          .kernels<NllLossKernel, float, double>());
  ops.add(ops.gradient_of("nll_loss")
              .doc("X@GRAD = -Weight[label] Out@GRAD at the label and 0 elsewhere, divided as Out was.")
              .input("X", "as in nll_loss; its values are not read")
              .checks_data()
              .kernels<NllLossGradKernel, float, double>());
}

}  // namespace paddle_mini
