// norm: Out = X / Norm, Norm = sqrt(sum of X^2 along an axis + epsilon)
#include <cmath>

#include "core/op_table.h"
#include "core/parallel.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// A tensor viewed as [outer, size, inner], where `size` is the length of the axis.
struct NormAround {
  int64_t outer, size, inner;

  NormAround(const Shape& x, int32_t axis) {
    int at = normal_axis(axis, x.rank(), "axis");
    outer = x.numel(0, at), size = x[at], inner = x.numel(at + 1, x.rank());
  }
};

template <class T>
struct NormKernel : Kernel {
  In<T> x;
  Out<T> out, norm;
  NormAround a;
  T epsilon;
  LaneScratch<T> roots;  // on a CPU, for one block [size, inner]

  explicit NormKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), norm(init, "Norm", optional_port), a(x.shape(), init.attr<int32_t>("axis")),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))), roots(init, kOnGpu ? 0 : a.inner) {}

  void run(KernelContext& context) override;
  // CPU only:
  void divide(KernelContext& context, const T* from, const T* r, T* to);
};

// X@GRAD = (G - X sum(G X) / Norm^2) / Norm with G = Out@GRAD; the sums run along the axis.
template <class T>
struct NormGradKernel : Kernel {
  In<T> x, norm, out_gradient;
  Out<T> x_gradient;
  NormAround a;
  LaneScratch<T> dots;  // on a CPU

  explicit NormGradKernel(KernelInit& init)
      : x(init, "X"), norm(init, "Norm"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        a(x.shape(), init.attr<int32_t>("axis")), dots(init, kOnGpu ? 0 : a.inner) {}

  void run(KernelContext& context) override;
  // CPU only:
  void dot_columns(KernelContext& context, const T* from, const T* g, const T* n, T* to);
};

Shape norm_shape(const InferContext& c) {
  require_tensors(c);
  Shape norm = c.shape("X");
  norm[normal_axis(c.attr<int32_t>("axis"), norm.rank(), "axis")] = 1;
  return norm;
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(norm)

namespace paddle_mini {

void define_norm(OpTable& ops) {
  ops.add(OpSchema("norm")
              .doc("Out = X / Norm, Norm = sqrt(sum of X^2 along the axis + epsilon).")
              .input("X", "at least one dimension")
              .output("Out", "shape of X")
              .optional_output("Norm", "shape of X with 1 along the axis; not needed in testing")
              .required_attr("axis", AttrType::Int, "the axis; negative: from the end")
              .attr("epsilon", 1e-10f, "added to the sum of squares", at_least(0))
              .attr("is_test", false, "not used; PaddlePaddle's norm_grad requires it")
              .infer([](InferContext& c) {
                c.set_output("Norm", c.input("X").dtype, norm_shape(c));
                c.set_output("Out", c.input("X"));
              })
              .gradient("norm_grad", {"X", "Norm", "Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<NormKernel, float, double>());
  ops.add(ops.gradient_of("norm")
              .doc("X@GRAD = (Out@GRAD - X (sum of Out@GRAD X along the axis) / Norm^2) / Norm.")
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<NormGradKernel, float, double>());
}

}  // namespace paddle_mini
