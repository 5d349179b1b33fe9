// softmax_with_cross_entropy: Loss = -sum(label log softmax(Logits)) along one axis
#include "core/op_table.h"
#include "core/widening.h"
#include "math/softmax_labels.h"

#ifdef PM_GPU
#include "math/softmax_cross_entropy_gpu.h"
#else
#include "math/exp_rows.h"
#include "math/map.h"
#endif

namespace paddle_mini {
namespace {

#ifndef PM_GPU
// Logits lie this far below the largest at most: PaddlePaddle's kernel cuts them off there, so that
// no logarithm is below it and no loss above it but for the logarithm of the sum.
template <class V>
V shifted(V logit, V largest) {
  return no_less(logit - largest, number_of<V>(-64));
}

// The logarithm of 0, which only probabilities that are given can be, is -1e20: losses stay numbers.
template <class V>
V finite_softmax_cross_entropy_log(V probability) {
  return maximum(log(probability), V(number_of<V>(-1e20)));
}
#endif

template <class T>
struct SoftmaxCrossEntropyKernel : Kernel {
  In<T> logits;
  SoftmaxLabels<T> labels;
  Out<T> softmax, loss;
  ClassAxis axis;
  bool use_softmax;
  Scratch<T> largest, sums;  // of softmax_block

  explicit SoftmaxCrossEntropyKernel(KernelInit& init)
      : logits(init, "Logits"), labels(init), softmax(init, "Softmax"), loss(init, "Loss"),
        axis(logits.shape(), init.attr<int32_t>("axis")), use_softmax(init.attr<bool>("use_softmax")),
        largest(init, kOnGpu ? 0 : axis.inner), sums(init, kOnGpu ? 0 : axis.inner) {}

  void refuse(const Fault& fault) const override {
    refuse_softmax_label(fault.value, fault.at, axis.classes, labels.ignored);
  }

#ifdef PM_GPU
  void run(Device& device) override {
    softmax_cross_entropy_gpu::Forward<T> body{{axis.outer, axis.classes, axis.inner},
                                               labels.hard_labels(device, axis.classes),
                                               labels.soft_data(),
                                               use_softmax,
                                               logits.data(),
                                               softmax.data(),
                                               loss.data()};
    launch(device, body.blocks(), body);
  }
#else
  void run(Device& device) override {
    labels.check(axis.classes);
    std::fill_n(loss.data(), loss.numel(), T(0));
    if (logits.numel() == 0) return;
    for (int64_t o = 0; o < axis.outer; ++o) {
      const T* x = logits.data() + o * axis.classes * axis.inner;
      T* p = softmax.data() + o * axis.classes * axis.inner;
      if (!use_softmax) {
        if (x != p) std::copy_n(x, axis.classes * axis.inner, p);
      } else if (axis.inner == 1) {
        softmax_row(device, x, p);
      } else {
        softmax_block(device, x, p);
      }
      if (labels.hard) hard_loss(o, p);
      else soft_loss(device, o, p);
    }
  }

  // One row that lies in one piece.
  void softmax_row(Device& device, const T* x, T* p) {
    int64_t n = axis.classes;
    T top = row_max(x, n);
    T factor = static_cast<T>(1 / exp_sum(n, x, p, [top](auto v) { return shifted(v, decltype(v)(top)); }));
    map(device, n, [factor](auto v) { return v * decltype(v)(factor); }, p, static_cast<const T*>(p));
  }

  // `inner` rows side by side.
  void softmax_block(Device& device, const T* x, T* p) {
    int64_t inner = axis.inner;
    const T *tops = largest.data(), *totals = sums.data();
    std::copy_n(x, inner, largest.data());
    for (int64_t c = 1; c < axis.classes; ++c) {
      map(device, inner, [](auto a, auto b) { return maximum(a, b); }, largest.data(), tops, x + c * inner);
    }
    std::fill_n(sums.data(), inner, T(0));
    auto add = [](auto v, auto top, auto total) {
      auto e = exp_below(shifted(v, top));
      return std::make_tuple(e, total + e);
    };
    for (int64_t c = 0; c < axis.classes; ++c) {
      map(device, inner, add, std::make_tuple(p + c * inner, sums.data()), x + c * inner, tops, totals);
    }
    for (int64_t c = 0; c < axis.classes; ++c) {
      const T* exponentials = p + c * inner;
      map(device, inner, [](auto e, auto total) { return e / total; }, p + c * inner, exponentials, totals);
    }
  }

  void hard_loss(int64_t o, const T* p) {
    for (int64_t i = 0; i < axis.inner; ++i) {
      int64_t row = o * axis.inner + i, label = (*labels.hard)[row];
      if (label != labels.ignored) loss[row] = -finite_softmax_cross_entropy_log(p[label * axis.inner + i]);
    }
  }

  void soft_loss(Device& device, int64_t o, const T* p) {
    const T* weight = labels.soft->data() + o * axis.classes * axis.inner;
    T* total = loss.data() + o * axis.inner;
    if (axis.inner == 1) {
      auto part = [](auto w, auto v) { return w * finite_softmax_cross_entropy_log(v); };
      *total = static_cast<T>(-map_sum(device, axis.classes, part, weight, p));
      return;
    }
    auto subtract = [](auto t, auto w, auto v) { return t - w * finite_softmax_cross_entropy_log(v); };
    for (int64_t c = 0; c < axis.classes; ++c, weight += axis.inner, p += axis.inner) {
      map(device, axis.inner, subtract, total, static_cast<const T*>(total), weight, p);
    }
  }
#endif
};

template <class T>
struct SoftmaxCrossEntropyGradKernel : Kernel {
  SoftmaxLabels<T> labels;
  In<T> softmax, loss_gradient;
  Out<T> logits_gradient;
  ClassAxis axis;
  bool use_softmax;

  explicit SoftmaxCrossEntropyGradKernel(KernelInit& init)
      : labels(init), softmax(init, "Softmax"), loss_gradient(init, "Loss@GRAD"), logits_gradient(init, "Logits@GRAD"),
        axis(softmax.shape(), init.attr<int32_t>("axis")), use_softmax(init.attr<bool>("use_softmax")) {}

  void refuse(const Fault& fault) const override {
    refuse_softmax_label(fault.value, fault.at, axis.classes, labels.ignored);
  }

#ifdef PM_GPU
  void run(Device& device) override {
    softmax_cross_entropy_gpu::Backward<T> body{labels.hard_labels(device, axis.classes),
                                                labels.soft_data(),
                                                use_softmax,
                                                axis.classes,
                                                axis.inner,
                                                softmax.data(),
                                                loss_gradient.data(),
                                                logits_gradient.data()};
    for_each_index(device, logits_gradient.numel(), body);
  }
#else
  void run(Device& device) override {
    labels.check(axis.classes);
    for (int64_t o = 0; o < axis.outer; ++o) {
      int64_t at = o * axis.classes * axis.inner;
      if (labels.hard) hard(device, o, softmax.data() + at, logits_gradient.data() + at);
      else soft(device, o, softmax.data() + at, labels.soft->data() + at, logits_gradient.data() + at);
    }
  }

  // (softmax - 1 at the label) times the loss's gradient; without softmax, -1 / p at the label.
  void hard(Device& device, int64_t o, const T* p, T* to) {
    int64_t inner = axis.inner;
    const T* gradient = loss_gradient.data() + o * inner;
    if (use_softmax && inner == 1) {
      map(device, axis.classes, [g = *gradient](auto v) { return v * decltype(v)(g); }, to, p);
    } else if (use_softmax) {
      for (int64_t c = 0; c < axis.classes; ++c) {
        map(device, inner, [](auto v, auto g) { return v * g; }, to + c * inner, p + c * inner, gradient);
      }
    }
    for (int64_t i = 0; i < inner; ++i) {
      int64_t label = (*labels.hard)[o * inner + i];
      bool ignored = label == labels.ignored;
      T at_label = ignored || use_softmax ? T(0) : -gradient[i] / p[label * inner + i];
      if (ignored || !use_softmax) {
        for (int64_t c = 0; c < axis.classes; ++c) to[c * inner + i] = T(0);
      }
      if (!ignored) to[label * inner + i] += use_softmax ? -gradient[i] : at_label;
    }
  }

  // softmax - label, as PaddlePaddle has it: the gradient where a row of labels sums to 1.
  void soft(Device& device, int64_t o, const T* p, const T* weight, T* to) {
    int64_t inner = axis.inner;
    const T* gradient = loss_gradient.data() + o * inner;
    bool through_softmax = use_softmax;
    for (int64_t c = 0; c < axis.classes; ++c, p += inner, weight += inner, to += inner) {
      if (through_softmax) {
        map(device, inner, [](auto v, auto w, auto g) { return (v - w) * g; }, to, p, weight, gradient);
      } else {
        map(device, inner, [](auto v, auto w, auto g) { return -(w / v) * g; }, to, p, weight, gradient);
      }
    }
  }
#endif
};

void require_integers(const InferContext& c, const char* port) {
  DType dtype = c.input(port).dtype;
  require<ShapeError>(!is_floating(dtype) && dtype != DType::Bool, port, " is ", name_of(dtype),
                      ", it must be integers");
}

// Label: the shape of the logits, with one class along the axis unless labels are soft.
void require_softmax_cross_entropy_labels(const InferContext& c, const char* logits) {
  const Shape& x = c.shape(logits);
  require<ShapeError>(x.rank() > 0, logits, " has no dimensions, one of them is that of the classes");
  int axis = normal_axis(c.attr<int32_t>("axis"), x.rank(), "axis");
  bool soft = c.attr<bool>("soft_label");
  if (soft) require_same_dtype(c, "Label", logits);
  else require_integers(c, "Label");
  Shape expected = x;
  if (!soft) expected[axis] = 1;
  require<ShapeError>(shapes_agree(c.shape("Label"), expected), "Label has shape ", c.shape("Label").str(), ", with ",
                      logits, " ", x.str(), " it must be ", expected.str());
}

void infer_softmax_cross_entropy(InferContext& c) {
  require_softmax_cross_entropy_labels(c, "Logits");
  Shape loss = c.shape("Logits");
  loss[normal_axis(c.attr<int32_t>("axis"), loss.rank(), "axis")] = 1;
  c.set_output("Softmax", c.input("Logits"));
  c.set_output("Loss", c.input("Logits").dtype, loss);
}

void infer_softmax_cross_entropy_gradient(InferContext& c) {
  require_softmax_cross_entropy_labels(c, "Softmax");
  require_same_dtype(c, "Softmax", "Loss@GRAD");
  Shape loss = c.shape("Softmax");
  loss[normal_axis(c.attr<int32_t>("axis"), loss.rank(), "axis")] = 1;
  require<ShapeError>(shapes_agree(c.shape("Loss@GRAD"), loss), "Loss@GRAD has shape ", c.shape("Loss@GRAD").str(),
                      ", Loss has ", loss.str());
  c.set_output("Logits@GRAD", c.input("Softmax"));
}

}  // namespace

void define_softmax_with_cross_entropy(OpTable& ops) {
  ops.add(any_integers(
      "Label",
      OpSpec("softmax_with_cross_entropy")
          .doc("Softmax = softmax(Logits) along the axis, Loss = -log Softmax[label], or -sum(Label log Softmax) with "
               "soft_label. Logits more than 64 below the largest count as 64 below. A label out of range is refused.")
          .input("Logits", "any shape with at least one dimension")
          .input("Label", "shape of Logits with 1 along the axis, integers; with soft_label, shape and dtype of Logits")
          .output("Softmax", "shape of Logits")
          .output("Loss", "shape of Logits with 1 along the axis")
          .attr("soft_label", false, "whether Label is a weight for every class")
          .attr("use_softmax", true, "false: Logits are probabilities already")
          .attr("numeric_stable_mode", true, "always so on a CPU")
          .attr("ignore_index", -100, "the hard label whose rows count nothing")
          .attr("axis", -1, "the axis of the classes; negative: from the end")
          .infer(infer_softmax_cross_entropy)
          .gradient("softmax_with_cross_entropy_grad", {"Label", "Softmax", "Loss@GRAD"}, {"Logits@GRAD"})
          .in_place("Logits", "Softmax")
          .checks_data()
          .on_gpu()
          .kernels<SoftmaxCrossEntropyKernel, float, double>()));
  ops.add(any_integers(
      "Label",
      ops.gradient_of("softmax_with_cross_entropy")
          .doc("Logits@GRAD = (Softmax - label) Loss@GRAD, 0 in rows of ignore_index; without softmax, -label / "
               "Softmax * Loss@GRAD.")
          .infer(infer_softmax_cross_entropy_gradient)
          .dtype_from_input("Softmax")
          .in_place("Softmax", "Logits@GRAD")
          .checks_data()
          .kernels<SoftmaxCrossEntropyGradKernel, float, double>()));
}

}  // namespace paddle_mini
