// label_smooth: Out = (1 - epsilon) X + epsilon PriorDist, or epsilon / classes without PriorDist
#include "core/op_table.h"
#include "math/arithmetic.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct Smooth {
  T keep, part;
  template <class V>
  PM_HD V operator()(V v) const {
    return v * V(keep) + V(part);
  }
};
template <class T>
struct SmoothToPrior {
  T keep, epsilon;
  template <class V>
  PM_HD V operator()(V v, V p) const {
    return v * V(keep) + p * V(epsilon);
  }
};

template <class T>
struct LabelSmoothKernel : Kernel {
  In<T> x, prior;
  Out<T> out;
  T epsilon;
  int64_t classes;

  explicit LabelSmoothKernel(KernelInit& init)
      : x(init, "X"), prior(init, "PriorDist", optional_port), out(init, "Out"),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))), classes(x.shape()[x.shape().rank() - 1]) {}

  void run(KernelContext& context) override {
    int64_t n = x.numel();
    if (n == 0) return;
    T keep = T(1) - epsilon;
    if (!prior) {
      T part = epsilon / static_cast<T>(classes);
      map(context, n, Smooth<T>{keep, part}, out.data(), x.data());
      return;
    }
    smooth_to_prior(context, n, {keep, epsilon});
  }
  void smooth_to_prior(KernelContext& context, int64_t n, const SmoothToPrior<T>& smooth) const;
};

template <class T>
struct LabelSmoothGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  T keep;

  explicit LabelSmoothGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        keep(T(1) - static_cast<T>(init.attr<float>("epsilon"))) {}

  void run(KernelContext& context) override {
    map(context, x_gradient.numel(), Times<T>{keep}, x_gradient.data(), out_gradient.data());
  }
};

void infer_label_smooth(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() > 0, "X has no dimensions; the last one must be that of the classes");
  if (c.has_input("PriorDist")) {
    require_same_dtype(c, "X", "PriorDist");
    const Shape& prior = c.shape("PriorDist");
    require<ShapeError>(dims_agree(prior.numel(0, prior.rank()), x[x.rank() - 1]), "PriorDist has shape ", prior.str(),
                        ", X ", x.str(), " has ", x[x.rank() - 1], " classes");
  }
  c.set_output("Out", c.input("X"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(label_smooth)

namespace paddle_mini {

void define_label_smooth(OpTable& ops) {
  ops.add(OpSchema("label_smooth")
              .doc("Out = (1 - epsilon) X + epsilon PriorDist; without PriorDist, epsilon / classes is added.")
              .input("X", "[..., classes]: labels, as weights of the classes")
              .optional_input("PriorDist", "[1, classes]: the probability of each class; uniform if omitted")
              .output("Out", "shape of X")
              .attr("epsilon", 0.0f, "the share of the label that is spread over the classes", between(0, 1))
              .infer(infer_label_smooth)
              .gradient("label_smooth_grad", {"Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<LabelSmoothKernel, float, double>());
  ops.add(ops.gradient_of("label_smooth")
              .doc("X@GRAD = (1 - epsilon) Out@GRAD.")
              .infer(same_as("Out@GRAD"))
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<LabelSmoothGradKernel, float, double>());
}

}  // namespace paddle_mini
