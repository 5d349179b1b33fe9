// p_norm: Out = (sum of |X|^p)^(1/p) along one axis, or over all elements
#include <cmath>

#include "ops/family/extremes.h"
#include "math/for_each_index.h"
#include "math/p_norm.h"

namespace paddle_mini {
namespace {

template <class Context>
std::vector<bool> p_norm_axes(const Context& c, const Shape& x) {
  bool all = c.template attr<bool>("asvector") || x.rank() == 0;
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), all);
  if (!all) reduced[static_cast<size_t>(normal_axis(c.template attr<int32_t>("axis"), x.rank(), "axis"))] = true;
  return reduced;
}

struct NormTerm {
  PNorm norm;
  PM_HD double operator()(double v) const { return norm.term(v); }
};
struct NormJoin {
  PNorm norm;
  PM_HD double operator()(double a, double b) const { return norm.join(a, b); }
};

template <class T>
struct NormOfSum {
  PNorm norm;
  const double* sums;
  T* out;
  PM_HD void operator()(int64_t i) const { out[i] = static_cast<T>(norm.of(sums[i])); }
};

template <class T>
struct NormSlope {
  PNorm norm;
  PM_HD T operator()(T x, T out, T gradient) const {
    return static_cast<T>(norm.slope(x, out) * static_cast<double>(gradient));
  }
};

template <class T>
struct PNormKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisFolds folds;
  PNorm norm;
  Scratch<double> sums;

  explicit PNormKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), folds(x.shape(), p_norm_axes(init, x.shape())),
        norm(init.attr<float>("porder"), init.attr<float>("epsilon")), sums(init, out.numel()) {}

  void run(KernelContext& context) override;
};

template <class T>
struct PNormGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  AxisFolds folds;
  PNorm norm;

  explicit PNormGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        folds(x.shape(), p_norm_axes(init, x.shape())), norm(init.attr<float>("porder"), init.attr<float>("epsilon")) {}

  void run(KernelContext& context) override {
    folds.map(context, NormSlope<T>{norm}, x_gradient.data(), x.data(), out.data(), out_gradient.data());
  }
};

Shape p_norm_shape(const InferContext& c) {
  require_tensors(c);
  require<ProgramError>(!std::isnan(c.attr<float>("porder")), "attribute 'porder' is NaN");
  const Shape& x = c.shape("X");
  return reduced_shape(x, p_norm_axes(c, x), c.attr<bool>("keepdim"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(p_norm)

namespace paddle_mini {

void define_p_norm(OpTable& ops) {
  ops.add(OpSchema("p_norm")
              .doc("Out = (sum of |X|^p)^(1/p) along the axis, with p = porder.")
              .attr("porder", 2.0f,
                    "p; inf and -inf: the largest and the smallest |X|; 0: the number of nonzero elements")
              .attr("axis", -1, "the axis; negative ones count from the end")
              .attr("epsilon", 1e-12f, "added to the divisor of the gradient", at_least(0))
              .attr("keepdim", false, "whether the axis stays as a dimension of 1")
              .attr("asvector", false, "whether X is flattened first; then `axis` is not used")
              .input("X", "any shape")
              .output("Out", "X's shape without the axis")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, p_norm_shape(c)); })
              .gradient("p_norm_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<PNormKernel, float, double>());
  ops.add(ops.gradient_of("p_norm")
              .doc("X@GRAD = Out@GRAD sign(X) |X|^(p-1) / (Out^(p-1) + epsilon); with p infinite, Out@GRAD sign(X) at "
                   "each element whose |X| is Out; 0 with p = 0 and where X is 0.")
              .kernels<PNormGradKernel, float, double>());
}

}  // namespace paddle_mini
