// p_norm: Out = (sum of |X|^p)^(1/p) along one axis, or of all elements
#include <cmath>

#include "math/extremes.h"
#include "math/p_norm.h"

namespace paddle_mini {
namespace {

template <class Context>
std::vector<bool> axes_of(const Context& c, const Shape& x) {
  bool all = c.template attr<bool>("asvector") || x.rank() == 0;
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), all);
  if (!all) reduced[static_cast<size_t>(normal_axis(c.template attr<int32_t>("axis"), x.rank(), "axis"))] = true;
  return reduced;
}

template <class T>
struct PNormKernel : Kernel {
  In<T> x;
  Out<T> out;
  AxisLoop loop;
  PNorm norm;
  Scratch<double> sums;

  explicit PNormKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), loop(fold_walks(x.shape(), axes_of(init, x.shape()))),
        norm(init.attr<float>("porder"), init.attr<float>("epsilon")), sums(init, out.numel()) {}

  void run(Device&) override {
    int64_t n = out.numel();
    std::fill_n(sums.data(), n, norm.first());
    norm.with_step([&](auto step) { loop.fold(step, x.data(), sums.data()); });
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(norm.of(sums[i]));
  }
};

template <class T>
struct PNormGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  AxisLoop loop;
  PNorm norm;

  explicit PNormGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        loop(fold_walks(x.shape(), axes_of(init, x.shape()))),
        norm(init.attr<float>("porder"), init.attr<float>("epsilon")) {}

  void run(Device&) override {
    int64_t block = loop.block();
    loop.each_block([&](int64_t at, int64_t from) {
      for (int64_t i = 0; i < block; ++i) {
        double slope = norm.slope(x[at + i], out[from + i]);
        x_gradient[at + i] = static_cast<T>(slope * static_cast<double>(out_gradient[from + i]));
      }
    });
  }
};

Shape out_shape(const InferContext& c) {
  require_tensors(c);
  require<ProgramError>(!std::isnan(c.attr<float>("porder")), "attribute 'porder' is NaN");
  const Shape& x = c.shape("X");
  return reduced_shape(x, axes_of(c, x), c.attr<bool>("keepdim"));
}

OpSpec with_attributes(OpSpec spec) {
  return spec.attr("porder", 2.0f, "p; inf and -inf are the largest and the smallest |X|, 0 counts what is not 0")
      .attr("axis", -1, "the axis; negative ones count from the end")
      .attr("epsilon", 1e-12f, "added to what the gradient divides by", at_least(0))
      .attr("keepdim", false, "whether the axis stays, with one element")
      .attr("asvector", false, "whether X is one line, whatever `axis` says");
}

}  // namespace

void define_p_norm(OpTable& ops) {
  ops.add(with_attributes(OpSpec("p_norm"))
              .doc("Out = (sum of |X|^p)^(1/p) along the axis, with p = porder.")
              .input("X", "any shape")
              .output("Out", "X's shape without the axis")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, out_shape(c)); })
              .gradient("p_norm_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .kernels<PNormKernel, float, double>());
  ops.add(with_attributes(OpSpec("p_norm_grad"))
              .doc("X@GRAD = Out@GRAD sign(X) |X|^(p-1) / (Out^(p-1) + epsilon); with p infinite, Out@GRAD sign(X) at "
                   "each element whose |X| is Out; 0 with p = 0 and where X is 0.")
              .input("X", "as in p_norm")
              .input("Out", "of p_norm")
              .input("Out@GRAD", "shape of Out")
              .output("X@GRAD", "shape of X")
              .infer([](InferContext& c) {
                require_like_out(c, "X", out_shape(c));
                require_same_dtype(c, "X", "Out");
                require_same_shape(c, "Out", "Out@GRAD");
                c.set_output("X@GRAD", c.input("X"));
              })
              .kernels<PNormGradKernel, float, double>());
}

}  // namespace paddle_mini
