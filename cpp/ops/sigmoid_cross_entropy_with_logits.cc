// sigmoid_cross_entropy_with_logits: Out = max(X, 0) - X Label + log(1 + exp(-|X|))
#include <cmath>

#include "ops/family/pair_loss.h"
#include "math/scalar_arg.h"

namespace paddle_mini {
namespace {

constexpr PairPorts kSigmoidPorts{"X", "Label", "Out"};

// Ignores labels that truncate to ignore_index, which are those in [low, high].
template <class T>
struct Ignored {
  T low, high;

  explicit Ignored(int32_t index) {
    T k = static_cast<T>(index);
    low = index > 0 ? k : std::nextafter(k - T(1), k);
    high = index < 0 ? k : std::nextafter(k + T(1), k);
  }
  template <class V>
  PM_HD V zero_where_ignored(V label, V value) const {
    return select((label >= V(low)) & (label <= V(high)), V(0), value);
  }
  PM_HD bool counts(T label) const { return !(label >= low && label <= high); }
};

// 1 / (number of counted labels), or 1 if there are none.
template <class T>
PM_HD T one_by(int64_t count) {
  return T(1) / static_cast<T>(count > 1 ? count : 1);
}

// The factor of every loss.
template <class T>
class Scale {
 public:
  explicit Scale(KernelInit& init)
      : normalize_(init.attr<bool>("normalize")), on_gpu_(init, kOnGpu && normalize_ ? 1 : 0) {}

  ScalarArg<T> of(KernelContext& context, const Ignored<T>& ignored, const In<T>& label) const;

 private:
  bool normalize_;
  Scratch<T> on_gpu_;
};

template <class T>
struct SigmoidLoss {
  Ignored<T> i;
  T scale;
  template <class V>
  PM_HD V operator()(V v, V l) const {
    V value = maximum(v, V(T(0))) - v * l + log(V(T(1)) + exp(-abs(v)));
    return i.zero_where_ignored(l, value * V(scale));
  }
  template <class V>
  PM_HD V operator()(V v, V l, V w) const {
    V other = maximum(-v, V(T(0))) + log(V(T(1)) + exp(-abs(v)));
    return i.zero_where_ignored(l, ((V(T(1)) - l) * v + w * other) * V(scale));
  }
};

template <class T>
struct SigmoidSlope {
  Ignored<T> i;
  T scale;
  template <class V>
  PM_HD V operator()(V v, V l, V g) const {
    V sigmoid = V(T(1)) / (V(T(1)) + exp(-v));
    return i.zero_where_ignored(l, g * (sigmoid - l) * V(scale));
  }
  template <class V>
  PM_HD V operator()(V v, V l, V w, V g) const {
    V other = V(T(1)) / (V(T(1)) + exp(v));
    return i.zero_where_ignored(l, g * (V(T(1)) - l - w * other) * V(scale));
  }
};

// The loss or its gradient, with a scale that may be in a tensor.
template <class T, template <class> class F>
struct ScaledSigmoid {
  Ignored<T> ignored;
  ScalarArg<T> scale;
  PM_HD F<T> bind_scalars() const { return {ignored, scale()}; }
};

// log(1 + exp(x)) - x label without overflow. With a weight w of the label's part: x (1 - label) + w log(1 + exp(-x)).
template <class T>
struct SigmoidCrossEntropyKernel : Kernel {
  In<T> x, label, weight;
  Out<T> out;
  Ignored<T> ignored;
  Scale<T> scale;

  explicit SigmoidCrossEntropyKernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), weight(init, "pos_weight", optional_port), out(init, "Out"),
        ignored(init.attr<int32_t>("ignore_index")), scale(init) {}

  void run(KernelContext& context) override {
    ScaledSigmoid<T, SigmoidLoss> f{ignored, scale.of(context, ignored, label)};
    if (weight) map(context, out.numel(), f, out.data(), x.data(), label.data(), weight.data());
    else map(context, out.numel(), f, out.data(), x.data(), label.data());
  }
};

template <class T>
struct SigmoidCrossEntropyGradKernel : Kernel {
  In<T> x, label, weight, out_gradient;
  Out<T> x_gradient;
  Ignored<T> ignored;
  Scale<T> scale;

  explicit SigmoidCrossEntropyGradKernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), weight(init, "pos_weight", optional_port), out_gradient(init, "Out@GRAD"),
        x_gradient(init, "X@GRAD"), ignored(init.attr<int32_t>("ignore_index")), scale(init) {}

  void run(KernelContext& context) override {
    ScaledSigmoid<T, SigmoidSlope> f{ignored, scale.of(context, ignored, label)};
    const T* g = out_gradient.data();
    if (weight) map(context, x_gradient.numel(), f, x_gradient.data(), x.data(), label.data(), weight.data(), g);
    else map(context, x_gradient.numel(), f, x_gradient.data(), x.data(), label.data(), g);
  }
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(sigmoid_cross_entropy_with_logits)

namespace paddle_mini {

void define_sigmoid_cross_entropy_with_logits(OpTable& ops) {
  ops.add(pair_loss("sigmoid_cross_entropy_with_logits", kSigmoidPorts)
              .optional_input("pos_weight", "shape of X: the weight of positive labels")
              .attr("ignore_index", -100, "labels with this integer part have loss 0")
              .attr("normalize", false, "whether to divide by the number of labels that are not ignored")
              .infer([](InferContext& c) {
                require_tensors(c);
                for (const char* port : {"Label", "pos_weight"}) {
                  if (!c.has_input(port)) continue;
                  require_same_dtype(c, "X", port);
                  require_same_shape(c, "X", port);
                }
                c.set_output("Out", c.input("X"));
              })
              .doc("Out = -Label log sigmoid(X) - (1 - Label) log(1 - sigmoid(X)) for every element, computed as "
                   "max(X, 0) - X Label + log(1 + exp(-|X|)); 0 where the integer part of the label is ignore_index. "
                   "pos_weight, 1 if omitted, is a factor of log sigmoid(X).")
              .gradient("sigmoid_cross_entropy_with_logits_grad", {"X", "Label", "pos_weight", "Out@GRAD"}, {"X@GRAD"})
              .kernels<SigmoidCrossEntropyKernel, float, double>());
  ops.add(pair_loss_gradient(ops, "sigmoid_cross_entropy_with_logits", kSigmoidPorts)
              .doc("X@GRAD = (sigmoid(X) - Label) Out@GRAD, with pos_weight (1 - Label - pos_weight sigmoid(-X)) "
                   "Out@GRAD; 0 where the label is ignored; divided like Out.")
              .kernels<SigmoidCrossEntropyGradKernel, float, double>());
}

}  // namespace paddle_mini
