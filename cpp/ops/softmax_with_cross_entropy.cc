// softmax_with_cross_entropy: Loss = -sum(label log softmax(Logits)) along one axis
#include "core/op_table.h"
#include "core/widening.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/narrow_rows.h"
#include "ops/softmax_with_cross_entropy.h"

namespace paddle_mini {
namespace {

template <class T>
struct SoftmaxCrossEntropyKernel : Kernel {
  In<T> logits;
  SoftmaxLabels<T> labels;
  Out<T> softmax, loss;
  AxisLines axis;  // Logits as lines of classes; labels and losses are [outer, 1, inner]
  bool use_softmax;
  Scratch<T> largest, sums;  // scratch of softmax_block

  explicit SoftmaxCrossEntropyKernel(KernelInit& init)
      : logits(init, "Logits"), labels(init), softmax(init, "Softmax"), loss(init, "Loss"),
        axis(logits.shape(), init.attr<int32_t>("axis")), use_softmax(init.attr<bool>("use_softmax")),
        largest(init, kOnGpu ? 0 : axis.inner), sums(init, kOnGpu ? 0 : axis.inner) {}

  void refuse(const Fault& fault) const override {
    refuse_softmax_label(fault.value, fault.at, axis.length, labels.ignored);
  }

  void run(KernelContext& context) override;
  // CPU only:
  void softmax_row(KernelContext& context, const T* x, T* p);
  void softmax_block(KernelContext& context, const T* x, T* p);
  void hard_loss(int64_t o, const T* p);
  void soft_loss(KernelContext& context, int64_t o, const T* p);
};

template <class T>
struct SoftmaxCrossEntropyGradKernel : Kernel {
  SoftmaxLabels<T> labels;
  In<T> softmax, loss_gradient;
  Out<T> logits_gradient;
  AxisLines axis;
  bool use_softmax;

  explicit SoftmaxCrossEntropyGradKernel(KernelInit& init)
      : labels(init), softmax(init, "Softmax"), loss_gradient(init, "Loss@GRAD"), logits_gradient(init, "Logits@GRAD"),
        axis(softmax.shape(), init.attr<int32_t>("axis")), use_softmax(init.attr<bool>("use_softmax")) {}

  void refuse(const Fault& fault) const override {
    refuse_softmax_label(fault.value, fault.at, axis.length, labels.ignored);
  }

  void run(KernelContext& context) override;
  // CPU only:
  void hard(KernelContext& context, int64_t o, const T* p, T* to);
  void soft(KernelContext& context, int64_t o, const T* p, const T* weight, T* to);
};

// For 16-bit floats: all labels are checked before the first rows are written.
template <template <class> class K>
struct NarrowCrossEntropy {
  template <class Half>
  struct For : NarrowRows<K>::template For<Half> {
    SoftmaxLabels<Half> labels;
    int64_t classes;

    explicit For(KernelInit& init) : NarrowRows<K>::template For<Half>(init), labels(init) {
      const Variable* logits = init.input("Logits");
      const Shape& shape = (logits ? logits : init.input("Softmax"))->tensor.shape;
      classes = shape[normal_axis(init.attr<int32_t>("axis"), shape.rank(), "axis")];
    }
    void run(KernelContext& context) override {
      labels.check(classes);
      NarrowRows<K>::template For<Half>::run(context);
    }
  };
};

void require_integers(const InferContext& c, const char* port) {
  DType dtype = c.input(port).dtype;
  require<ShapeError>(!is_floating(dtype) && dtype != DType::Bool, port, " is ", name_of(dtype),
                      ", it must be integers");
}

// Label has the shape of the logits, with length 1 along the axis unless labels are soft.
void require_softmax_cross_entropy_labels(const InferContext& c, const char* logits) {
  const Shape& x = c.shape(logits);
  require<ShapeError>(x.rank() > 0, logits, " has no dimensions; one of them must be that of the classes");
  int axis = normal_axis(c.attr<int32_t>("axis"), x.rank(), "axis");
  bool soft = c.attr<bool>("soft_label");
  if (soft) require_same_dtype(c, "Label", logits);
  else require_integers(c, "Label");
  Shape expected = x;
  if (!soft) expected[axis] = 1;
  require<ShapeError>(shapes_agree(c.shape("Label"), expected), "Label has shape ", c.shape("Label").str(), ", with ",
                      logits, " ", x.str(), " it must be ", expected.str());
}

DType dtype_of_loss(const InferContext& c, const char* logits) {
  const DType dtype = c.input(logits).dtype;
  const bool is_half = dtype == DType::Float16 || dtype == DType::BFloat16;
  return is_half && c.attr<bool>("float32_loss") ? DType::Float32 : dtype;
}

void infer_softmax_cross_entropy(InferContext& c) {
  require_softmax_cross_entropy_labels(c, "Logits");
  Shape loss = c.shape("Logits");
  loss[normal_axis(c.attr<int32_t>("axis"), loss.rank(), "axis")] = 1;
  c.set_output("Softmax", c.input("Logits"));
  c.set_output("Loss", dtype_of_loss(c, "Logits"), loss);
}

void infer_softmax_cross_entropy_gradient(InferContext& c) {
  require_softmax_cross_entropy_labels(c, "Softmax");
  const DType dtype = dtype_of_loss(c, "Softmax");
  require<ShapeError>(c.input("Loss@GRAD").dtype == dtype, "Loss@GRAD is ", name_of(c.input("Loss@GRAD").dtype),
                      ", Loss is ", name_of(dtype));
  Shape loss = c.shape("Softmax");
  loss[normal_axis(c.attr<int32_t>("axis"), loss.rank(), "axis")] = 1;
  require<ShapeError>(shapes_agree(c.shape("Loss@GRAD"), loss), "Loss@GRAD has shape ", c.shape("Loss@GRAD").str(),
                      ", Loss has ", loss.str());
  c.set_output("Logits@GRAD", c.input("Softmax"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(softmax_with_cross_entropy)

namespace paddle_mini {

void define_softmax_with_cross_entropy(OpTable& ops) {
  ops.add(any_integers(
      "Label",
      with_halves<NarrowCrossEntropy<SoftmaxCrossEntropyKernel>::For>(
          OpSchema("softmax_with_cross_entropy")
              .doc("Softmax = softmax(Logits) along the axis, Loss = -log Softmax[label], or -sum(Label log Softmax) "
                   "with "
                   "soft_label. Logits more than 64 below the maximum count as 64 below it. A label out of range is an "
                   "error.")
              .input("Logits", "any shape with at least one dimension")
              .input("Label",
                     "shape of Logits with 1 along the axis, integers; with soft_label, shape and dtype of Logits")
              .output("Softmax", "shape of Logits")
              .output("Loss", "shape of Logits with 1 along the axis")
              .attr("soft_label", false, "whether Label has a weight for every class")
              .attr("use_softmax", true, "false: Logits are already probabilities")
              .attr("numeric_stable_mode", true, "not used")
              .attr("ignore_index", -100, "rows with this hard label have loss 0")
              .attr("axis", -1, "the axis of the classes; negative: from the end")
              .attr("float32_loss", false, "whether Loss is float32 where Logits are of 16 bits")
              .infer(infer_softmax_cross_entropy)
              .gradient("softmax_with_cross_entropy_grad", {"Label", "Softmax", "Loss@GRAD"}, {"Logits@GRAD"})
              .in_place("Logits", "Softmax")
              .checks_data()
              .on_gpu()
              .kernels<SoftmaxCrossEntropyKernel, float, double>())));
  ops.add(any_integers(
      "Label",
      with_halves<NarrowCrossEntropy<SoftmaxCrossEntropyGradKernel>::For>(
          ops.gradient_of("softmax_with_cross_entropy")
              .doc("Logits@GRAD = (Softmax - label) Loss@GRAD, 0 in rows of ignore_index; without softmax, -label / "
                   "Softmax * Loss@GRAD.")
              .infer(infer_softmax_cross_entropy_gradient)
              .dtype_from_input("Softmax")
              .in_place("Softmax", "Logits@GRAD")
              .checks_data()
              .kernels<SoftmaxCrossEntropyGradKernel, float, double>())));
}

}  // namespace paddle_mini
