// dot: Out = sum of X Y along the last axis
#include "math/axis_index_map.h"
#include "math/map.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

template <class T>
struct DotKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  int64_t size;

  explicit DotKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), size(x.shape()[x.shape().rank() - 1]) {}

  void run(KernelContext& context) override;
};

template <class T>
struct DotGradKernel : Kernel {
  In<T> x, y, out_gradient;
  Out<T> x_gradient, y_gradient;
  int64_t size;

  explicit DotGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), size(x.shape()[x.shape().rank() - 1]) {}

  void run(KernelContext& context) override;
};

Shape dot_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(x.rank() == 1 || x.rank() == 2, "X has shape ", x.str(), ", it must have 1 or 2 dimensions");
  require<ShapeError>(shapes_agree(x, y), "X has shape ", x.str(), ", Y has ", y.str());
  return x.rank() == 2 ? Shape{x[0]} : Shape{};
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(dot)

namespace paddle_mini {

void define_dot(OpTable& ops) {
  ops.add(
      with_complex<DotKernel>(OpSchema("dot")
                                  .doc("Out = the sum of X Y along the last axis. Integers wrap around.")
                                  .input("X", "[size] or [rows, size]")
                                  .input("Y", "shape of X")
                                  .output("Out", "[] or [rows]")
                                  .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, dot_shape(c)); })
                                  .gradient("dot_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
                                  .on_gpu()
                                  .kernels<DotKernel, float, double, int32_t, int64_t>()));
  ops.add(with_complex<DotGradKernel>(ops.gradient_of("dot")
                                          .doc("X@GRAD = Out@GRAD Y, Y@GRAD = Out@GRAD X; of complex numbers with the "
                                               "conjugates of Y and X.")
                                          .kernels<DotGradKernel, float, double>()));
}

}  // namespace paddle_mini
