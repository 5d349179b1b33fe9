// cos_sim: the cosine of the angle between each row of X and its row of Y
#include <cmath>

#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// Pairs the rows of X with the rows of Y, or all of them with the only row of Y.
struct RowPairs {
  int64_t rows, size, y_step;

  RowPairs(const Shape& x, const Shape& y) : rows(x[0]), size(x.numel(1, x.rank())), y_step(y[0] == x[0] ? size : 0) {}
  int64_t y_row(int64_t i) const { return y_step ? i : 0; }
};

template <class T>
struct CosSimKernel : Kernel {
  In<T> x, y;
  Out<T> out, x_norm, y_norm;
  RowPairs pairs;

  explicit CosSimKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), x_norm(init, "XNorm"), y_norm(init, "YNorm"),
        pairs(x.shape(), y.shape()) {}

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  T length(KernelContext& context, const T* row);
};

// X@GRAD = Out@GRAD (Y / (XNorm YNorm) - Out X / XNorm^2). Y@GRAD is analogous, summed if Y has one row.
template <class T>
struct CosSimGradKernel : Kernel {
  In<T> x, y, x_norm, y_norm, out, out_gradient;
  Out<T> x_gradient, y_gradient;
  RowPairs pairs;

  explicit CosSimGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), x_norm(init, "XNorm"), y_norm(init, "YNorm"), out(init, "Out"),
        out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), pairs(x.shape(), y.shape()) {}

  void run(KernelContext& context) override;
};

void require_pairs(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(x.rank() >= 1 && y.rank() >= 1, "X ", x.str(), " and Y ", y.str(), ": it must have rows");
  Shape other = y;
  if (y[0] == 1) other[0] = x[0];
  require<ShapeError>(shapes_agree(x, other), "X has shape ", x.str(), ", Y has ", y.str(),
                      "; Y may also have a single row");
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(cos_sim)

namespace paddle_mini {

void define_cos_sim(OpTable& ops) {
  ops.add(OpSchema("cos_sim")
              .doc("Out = X Y / (XNorm YNorm), row by row. A norm below 1e-8 counts as 1e-8. An operator of "
                   "PaddlePaddle 1.x.")
              .input("X", "[rows, ...]")
              .input("Y", "shape of X, or [1, ...]: one row for all")
              .output("Out", "[rows, 1]")
              .output("XNorm", "[rows, 1]: the root of the sum of squares")
              .output("YNorm", "[rows of Y, 1]")
              .infer([](InferContext& c) {
                require_pairs(c);
                DType dtype = c.input("X").dtype;
                for (const char* port : {"Out", "XNorm"}) c.set_output(port, dtype, {c.shape("X")[0], 1});
                c.set_output("YNorm", dtype, {c.shape("Y")[0], 1});
              })
              .gradient("cos_sim_grad", {"X", "Y", "XNorm", "YNorm", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<CosSimKernel, float, double>());
  ops.add(ops.gradient_of("cos_sim")
              .doc("X@GRAD = Out@GRAD (Y / (XNorm YNorm) - Out X / XNorm^2), Y@GRAD = Out@GRAD (X / (XNorm YNorm) - "
                   "Out Y / YNorm^2), summed over the rows if Y has one row.")
              .kernels<CosSimGradKernel, float, double>());
}

}  // namespace paddle_mini
