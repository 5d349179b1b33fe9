// trace: Out = the sum of a diagonal of each matrix in Input
#include <algorithm>

#include "core/second_gradient.h"
#include "math/axis_index_map.h"
#include "math/copy.h"

namespace paddle_mini {
namespace {

// The two axes of the matrices, and the positions of their diagonals.
struct Diagonals {
  int axis1, axis2;
  Shape out;
  int64_t count = 0, first = 0, step = 0;
  std::vector<int64_t> matrices;  // offset of each matrix

  template <class Context>
  Diagonals(const Context& c, const Shape& x) {
    require<ShapeError>(x.rank() >= 2, "Input has shape ", x.str(), ", it must have at least 2 dimensions");
    axis1 = normal_axis(c.template attr<int32_t>("axis1"), x.rank(), "axis1");
    axis2 = normal_axis(c.template attr<int32_t>("axis2"), x.rank(), "axis2");
    require<ShapeError>(axis1 != axis2, "axis1 and axis2 are both axis ", axis1);
    for (int i = 0; i < x.rank(); ++i) {
      if (i != axis1 && i != axis2) out.push_back(x[i]);
    }
  }

  void place(const Shape& x, int64_t offset) {
    int64_t step1 = x.numel(axis1 + 1, x.rank()), step2 = x.numel(axis2 + 1, x.rank());
    int64_t down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
    count = std::max<int64_t>(std::min(x[axis1] - down, x[axis2] - right), 0);
    step = step1 + step2;
    if (count) first = down * step1 + right * step2;
    matrices = {0};
    for (int i = 0; i < x.rank(); ++i) {
      if (i == axis1 || i == axis2) continue;
      std::vector<int64_t> next;
      for (int64_t begin : matrices) {
        for (int64_t j = 0; j < x[i]; ++j) next.push_back(begin + j * x.numel(i + 1, x.rank()));
      }
      matrices = std::move(next);
    }
  }
};

Diagonals diagonals_of(const KernelInit& init) {
  const Shape& x = init.input("Input")->tensor.shape;
  Diagonals diagonals(init, x);
  diagonals.place(x, init.attr<int32_t>("offset"));
  return diagonals;
}

Shape trace_out_shape(const InferContext& c) {
  require_tensors(c);
  return Diagonals(c, c.shape("Input")).out;
}

template <class T>
struct TraceKernel : Kernel {
  In<T> x;
  Out<T> out;
  Diagonals d;

  explicit TraceKernel(KernelInit& init) : x(init, "Input"), out(init, "Out"), d(diagonals_of(init)) {}
  void run(KernelContext& context) override;
};

template <class T>
struct TraceGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  Diagonals d;

  explicit TraceGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "Input@GRAD"), d(diagonals_of(init)) {}
  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(trace)

namespace paddle_mini {

void define_trace(OpTable& ops) {
  ops.add(OpSchema("trace")
              .doc("Out = the sum of a diagonal of each matrix that axis1 and axis2 form.")
              .attr("offset", 0, "the diagonal's distance to the right of the main one; negative: below it")
              .attr("axis1", 0, "the rows of the matrices; negative ones count from the end")
              .attr("axis2", 1, "the columns of the matrices; negative ones count from the end")
              .input("Input", "at least 2 dimensions")
              .output("Out", "the axes of Input other than axis1 and axis2")
              .infer([](InferContext& c) { c.set_output("Out", c.input("Input").dtype, trace_out_shape(c)); })
              .gradient("trace_grad", {"Input", "Out@GRAD"}, {"Input@GRAD"})
              .on_gpu()
              .kernels<TraceKernel, float, double, int32_t, int64_t>());
  ops.add(linear_gradient_of(ops, "trace")
              .doc("Input@GRAD = Out@GRAD along the diagonal, 0 elsewhere.")
              .shape_only("Input")
              .kernels<TraceGradKernel, float, double>());
}

}  // namespace paddle_mini
