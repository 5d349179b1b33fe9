// renorm: Out = X with every slice along an axis scaled down whose norm exceeds a limit
#include "core/op_table.h"
#include "math/for_each_line.h"

#include <cmath>

namespace paddle_mini {
namespace {

// PaddlePaddle adds this to the norm by which it divides.
constexpr double kRenormEpsilon = 1e-7;

// Slice s consists of the elements (o * slices + s) * inner + i.
template <class T>
struct RenormSlices {
  int64_t outer, slices, inner;
  double p, most;
  const T* x;

  template <class F>
  PM_HD void each(int64_t slice, F f) const {
    for (int64_t o = 0; o < outer; ++o) {
      int64_t begin = (o * slices + slice) * inner;
      for (int64_t i = 0; i < inner; ++i) f(begin + i);
    }
  }
  PM_HD double norm(int64_t slice) const {
    double sum = 0;
    const T* from = x;
    double exponent = p;
    each(slice,
         [from, exponent, &sum](int64_t at) { sum += std::pow(std::abs(static_cast<double>(from[at])), exponent); });
    return std::pow(sum, 1 / p);
  }
};

template <class T>
struct RenormSlice {
  RenormSlices<T> slices;
  T* out;

  PM_HD void operator()(int64_t slice) const {
    double norm = slices.norm(slice);
    double factor = norm > slices.most ? slices.most / (norm + kRenormEpsilon) : 1;
    const T* from = slices.x;
    T* to = out;
    slices.each(slice, [=](int64_t at) { to[at] = static_cast<T>(static_cast<double>(from[at]) * factor); });
  }
};

// The gradient of f X, with f = most / (norm + epsilon), is f g - most / (norm + epsilon)^2 (the sum of g x) d norm / dx.
template <class T>
struct RenormSliceGrad {
  RenormSlices<T> slices;
  const T* out_gradient;
  T* x_gradient;

  PM_HD void operator()(int64_t slice) const {
    const T *g = out_gradient, *x = slices.x;
    T* to = x_gradient;
    double p = slices.p, norm = slices.norm(slice);
    if (!(norm > slices.most)) return slices.each(slice, [=](int64_t at) { to[at] = g[at]; });
    double product = 0, factor = slices.most / (norm + kRenormEpsilon);
    slices.each(slice,
                [=, &product](int64_t at) { product += static_cast<double>(g[at]) * static_cast<double>(x[at]); });
    double bend = product * factor / (norm + kRenormEpsilon) * std::pow(norm, 1 - p);
    slices.each(slice, [=](int64_t at) {
      double value = static_cast<double>(x[at]);
      double slope = value == 0 ? 0 : std::pow(std::abs(value), p - 1) * (value < 0 ? -1 : 1);
      to[at] = static_cast<T>(factor * static_cast<double>(g[at]) - bend * slope);
    });
  }
};

template <class T>
RenormSlices<T> renorm_slices_of(const KernelInit& init, const In<T>& x) {
  const Shape& shape = x.shape();
  int axis = normal_axis(init.attr<int32_t>("axis"), shape.rank(), "axis");
  return {shape.numel(0, axis),
          shape[axis],
          shape.numel(axis + 1, shape.rank()),
          static_cast<double>(init.attr<float>("p")),
          static_cast<double>(init.attr<float>("max_norm")),
          x.data()};
}

// The slices as lines of one thread each.
template <class T>
AxisLines renorm_lines(const RenormSlices<T>& slices) {
  AxisLines lines;
  lines.inner = slices.slices, lines.length = slices.outer * slices.inner;
  return lines;
}
constexpr double kRenormCost = 20;  // powers

template <class T>
struct RenormKernel : Kernel {
  In<T> x;
  Out<T> out;
  RenormSlices<T> slices;

  explicit RenormKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), slices(renorm_slices_of(init, x)) {}
  void run(KernelContext& context) override {
    slices.x = x.data();
    for_each_line(context, renorm_lines(slices), kRenormCost, RenormSlice<T>{slices, out.data()});
  }
};

template <class T>
struct RenormGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;
  RenormSlices<T> slices;

  explicit RenormGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), slices(renorm_slices_of(init, x)) {}
  void run(KernelContext& context) override {
    slices.x = x.data();
    RenormSliceGrad<T> gradient{slices, out_gradient.data(), x_gradient.data()};
    for_each_line(context, renorm_lines(slices), kRenormCost, gradient);
  }
};

void positive_exponent(const std::string& name, const AttrValue& value) {
  float p = std::get<float>(value);
  require<ProgramError>(p > 0 && std::isfinite(p), "attribute '", name, "' is ", p, ", it must be above 0 and finite");
}

}  // namespace

void define_renorm(OpTable& ops) {
  ops.add(
      OpSchema("renorm")
          .doc("Out = X; every slice along the axis whose p-norm exceeds max_norm is multiplied by max_norm / (norm "
               "+ 1e-7).")
          .input("X", "at least 2 dimensions")
          .output("Out", "shape of X")
          .required_attr("p", AttrType::Float, "exponent of the norm", positive_exponent)
          .required_attr("axis", AttrType::Int, "the axis; negative ones count from the end")
          .required_attr("max_norm", AttrType::Float, "the largest norm of a slice", at_least(0))
          .infer([](InferContext& c) {
            require_tensors(c);
            const Shape& x = c.shape("X");
            require<ShapeError>(x.rank() >= 2, "X has shape ", x.str(), ", it must have at least 2 dimensions");
            normal_axis(c.attr<int32_t>("axis"), x.rank(), "axis");
            c.set_output("Out", c.input("X"));
          })
          .gradient("renorm_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<RenormKernel, float, double>());
  ops.add(ops.gradient_of("renorm")
              .doc("X@GRAD = Out@GRAD for slices that were not scaled; for the others the gradient of their factor, "
                   "which depends on the norm, is added.")
              .kernels<RenormGradKernel, float, double>());
}

}  // namespace paddle_mini
