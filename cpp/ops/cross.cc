// cross: Out = X x Y, the cross products of vectors of length 3 along an axis
#include "math/axis_lines.h"
#include "math/axis_index_map.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

constexpr int32_t kFirstOfThree = 9;

template <class T>
struct CrossProduct {
  const T *x, *y;
  T* out;
  int64_t inner;

  // Computes the product of the vectors whose first elements are at a.
  PM_HD void at(int64_t a) const {
    int64_t b = a + inner, c = b + inner;
    out[a] = static_cast<T>(x[b] * y[c] - x[c] * y[b]);
    out[b] = static_cast<T>(x[c] * y[a] - x[a] * y[c]);
    out[c] = static_cast<T>(x[a] * y[b] - x[b] * y[a]);
  }
  PM_HD void operator()(int64_t line) const { at(line / inner * 3 * inner + line % inner); }
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(cross)

namespace paddle_mini {
namespace {

// Returns -1 if the axis is not known yet.
int cross_axis_of(const Shape& x, int32_t dim) {
  bool unknown = false;
  for (int i = 0; dim == kFirstOfThree && i < x.rank(); ++i) {
    if (x[i] == 3) return i;
    unknown = unknown || x[i] < 0;
  }
  if (unknown) return -1;
  require<ShapeError>(dim != kFirstOfThree, "X has shape ", x.str(), ", none of its axes has the size 3");
  int axis = normal_axis(dim, x.rank(), "dim");
  require<ShapeError>(dims_agree(x[axis], 3), "X has shape ", x.str(), ": axis ", axis, " has size ", x[axis],
                      ", a cross product needs vectors of 3 elements");
  return axis;
}

template <class T>
struct CrossKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  AxisLines lines;

  explicit CrossKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"),
        lines(x.shape(), cross_axis_of(x.shape(), init.attr<int32_t>("dim"))) {}
  void run(KernelContext& context) override { cross_lines(context, lines, x.data(), y.data(), out.data()); }
};

template <class T>
struct CrossGradKernel : Kernel {
  In<T> x, y, out_gradient;
  Out<T> x_gradient, y_gradient;
  AxisLines lines;

  explicit CrossGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port),
        lines(x.shape(), cross_axis_of(x.shape(), init.attr<int32_t>("dim"))) {}
  void run(KernelContext& context) override {
    if (x_gradient) cross_lines(context, lines, y.data(), out_gradient.data(), x_gradient.data());
    if (y_gradient) cross_lines(context, lines, out_gradient.data(), x.data(), y_gradient.data());
  }
};

const Shape& cross_checked_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(shapes_agree(x, y), "X has shape ", x.str(), ", Y has ", y.str());
  cross_axis_of(x, c.attr<int32_t>("dim"));
  return x;
}

}  // namespace

void define_cross(OpTable& ops) {
  ops.add(OpSchema("cross")
              .doc("Out = X x Y: (x1 y2 - x2 y1, x2 y0 - x0 y2, x0 y1 - x1 y0) along the axis.")
              .attr("dim", kFirstOfThree, "the axis of the vectors; negative: from the end; 9: the first of size 3")
              .input("X", "any shape with an axis of 3")
              .input("Y", "shape of X")
              .output("Out", "shape of X")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, cross_checked_shape(c)); })
              .gradient("cross_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<CrossKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("cross")
              .doc("X@GRAD = Y x Out@GRAD, Y@GRAD = Out@GRAD x X.")
              .kernels<CrossGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
