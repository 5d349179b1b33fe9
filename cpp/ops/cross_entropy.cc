// cross_entropy: Y = -log(X[label]), or -sum(Label log X), row by row
#include <cmath>

#include "core/op_table.h"
#include "ops/family/class_labels.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// Replaces infinite logarithms by 1e20 with their sign, so that a sum of losses stays finite; NaN stays NaN.
template <class V>
PM_HD V finite_cross_entropy_log(V probability) {
  V limit{number_of<V>(1e20)};
  return maximum(minimum(log(probability), limit), -limit);
}

int64_t classes_of(const Shape& x) { return x[x.rank() - 1]; }
int64_t rows_of_classes(const Shape& x) { return x.numel(0, x.rank() - 1); }

template <class T>
struct HardKernel : Kernel {
  In<T> x;
  IndexIn label;
  Out<T> y;
  int64_t classes, ignored;

  explicit HardKernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), y(init, "Y"), classes(classes_of(x.shape())),
        ignored(init.attr<int32_t>("ignore_index")) {}

  void refuse(const Fault& fault) const override { refuse_class_label(fault.value, fault.at, classes, ignored); }

  void run(KernelContext& context) override;
};

template <class T>
struct SoftKernel : Kernel {
  In<T> x, label;
  Out<T> y;
  int64_t classes, rows;

  explicit SoftKernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), y(init, "Y"), classes(classes_of(x.shape())),
        rows(rows_of_classes(x.shape())) {}

  void run(KernelContext& context) override;
  bool may_fail_validation() const override { return false; }
};

template <class T>
struct HardGradKernel : Kernel {
  In<T> x, y_gradient;
  IndexIn label;
  Out<T> x_gradient;
  int64_t classes, ignored;

  explicit HardGradKernel(KernelInit& init)
      : x(init, "X"), y_gradient(init, "Y@GRAD"), label(init, "Label"), x_gradient(init, "X@GRAD"),
        classes(classes_of(x.shape())), ignored(init.attr<int32_t>("ignore_index")) {}

  void refuse(const Fault& fault) const override { refuse_class_label(fault.value, fault.at, classes, ignored); }

  void run(KernelContext& context) override;
};

template <class T>
struct SoftGradKernel : Kernel {
  In<T> x, label, y_gradient;
  Out<T> x_gradient;
  int64_t classes, rows;

  explicit SoftGradKernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD"),
        classes(classes_of(x.shape())), rows(rows_of_classes(x.shape())) {}

  void run(KernelContext& context) override;
  bool may_fail_validation() const override { return false; }
};

// Selects one of two kernels by attribute soft_label.
template <template <class> class Hard, template <class> class Soft>
struct Either {
  template <class T>
  struct For : Kernel {
    std::unique_ptr<Kernel> kernel;

    explicit For(KernelInit& init) {
      if (init.attr<bool>("soft_label")) kernel = std::make_unique<Soft<T>>(init);
      else kernel = std::make_unique<Hard<T>>(init);
    }
    void run(KernelContext& context) override { kernel->run(context); }
    void refuse(const Fault& fault) const override { kernel->refuse(fault); }
    bool may_fail_validation() const override { return kernel->may_fail_validation(); }
  };
};

// Returns the shape of Y: Label's, with one class.
Shape cross_entropy_loss_shape(const InferContext& c) {
  require_tensors(c);
  const Shape &x = c.shape("X"), &label = c.shape("Label");
  require<ShapeError>(x.rank() >= 1, "X has no dimensions; the last one must be that of the classes");
  Shape bare(std::vector<int64_t>(x.begin(), x.end() - 1)), column = bare;
  column.push_back(1);
  if (c.attr<bool>("soft_label")) {
    require_same_dtype(c, "Label", "X");
    require<ShapeError>(shapes_agree(label, x), "Label has shape ", label.str(), ", soft labels must have that of X, ",
                        x.str());
    return column;
  }
  require_index(c, "Label");
  require<ShapeError>(shapes_agree(label, bare) || shapes_agree(label, column), "Label has shape ", label.str(), ", X ",
                      x.str(), ": Label must have one element for each row");
  return label.rank() == x.rank() ? column : bare;
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(cross_entropy)

namespace paddle_mini {

void define_cross_entropy(OpTable& ops) {
  ops.add(OpSchema("cross_entropy")
              .doc("Y = -log(X[label]) for every row of probabilities X, or -sum(Label log X) with soft_label; 0 where "
                   "the label is ignore_index. The logarithm of 0 counts as -1e20. A label out of range is an error.")
              .input("X", "[..., classes]: probabilities")
              .input("Label", "[..., 1] or [...], int32 or int64; with soft_label, shape and dtype of X")
              .output("Y", "[..., 1], or [...] if Label has this shape")
              .attr("soft_label", false, "whether Label has a weight for every class")
              .attr("ignore_index", -100, "rows with this hard label have loss 0")
              .infer([](InferContext& c) { c.set_output("Y", c.input("X").dtype, cross_entropy_loss_shape(c)); })
              .gradient("cross_entropy_grad", {"X", "Label", "Y@GRAD"}, {"X@GRAD"})
              .checks_data()
              .on_gpu()
              .kernels<Either<HardKernel, SoftKernel>::For, float, double>());
  ops.add(ops.gradient_of("cross_entropy")
              .doc("X@GRAD = -Y@GRAD / X at the label and 0 elsewhere; with soft_label, -Label Y@GRAD / X.")
              .checks_data()
              .kernels<Either<HardGradKernel, SoftGradKernel>::For, float, double>());
}

}  // namespace paddle_mini
