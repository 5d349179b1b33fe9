// addmm: Out = Beta Input + Alpha X Y
#include "math/arithmetic.h"
#include "math/axis_index_map.h"
#include "math/gemm.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct AddmmKernel : Kernel {
  In<T> input, x, y;
  Out<T> out;
  AxisLoop broadcast;
  Gemm<T> gemm;
  T beta;

  explicit AddmmKernel(KernelInit& init)
      : input(init, "Input"), x(init, "X"), y(init, "Y"), out(init, "Out"),
        broadcast(broadcast_maps(input.shape(), out.shape(), "Input")), beta(static_cast<T>(init.attr<float>("Beta"))) {
    int64_t m = x.shape()[0], k = x.shape()[1], n = y.shape()[1];
    T alpha = static_cast<T>(init.attr<float>("Alpha")), added = beta == T(0) ? T(0) : T(1);
    gemm = {{false, false, m, n, k, 0, 0, 0, alpha, added}, init, "Y"};
  }

  void run(KernelContext& context) override {
    if (beta != T(0)) {
      broadcast.copy(context, input.data(), out.data(), T(0));
      T* to = out.data();
      if (beta != T(1)) map(context, out.numel(), Times<T>{beta}, to, static_cast<const T*>(to));
    }
    gemm.run(context, x.data(), y.data(), out.data());
  }
};

template <class T>
struct AddmmGradKernel : Kernel {
  In<T> input, x, y, out_gradient;
  Out<T> input_gradient, x_gradient, y_gradient;
  AxisLoop broadcast;
  Gemm<T> to_x, to_y;
  T beta;

  explicit AddmmGradKernel(KernelInit& init)
      : input(init, "Input"), x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"),
        input_gradient(init, "Input@GRAD", optional_port), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port),
        broadcast(broadcast_maps(input.shape(), {x.shape()[0], y.shape()[1]}, "Input")),
        beta(static_cast<T>(init.attr<float>("Beta"))) {
    int64_t m = x.shape()[0], k = x.shape()[1], n = y.shape()[1];
    T alpha = static_cast<T>(init.attr<float>("Alpha"));
    to_x = {{false, true, m, k, n, 0, 0, 0, alpha}, init.threads()};
    to_y = {{true, false, k, n, m, 0, 0, 0, alpha}, init.threads()};
  }

  void run(KernelContext& context) override {
    const T* g = out_gradient.data();
    if (x_gradient) to_x.run(context, g, y.data(), x_gradient.data());
    if (y_gradient) to_y.run(context, x.data(), g, y_gradient.data());
    if (!input_gradient) return;
    T* to = input_gradient.data();
    broadcast.add_back(context, g, to);
    map(context, input.numel(), Times<T>{beta}, to, static_cast<const T*>(to));
  }
};

Shape addmm_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "Input", "X");
  require_same_dtype(c, "X", "Y");
  require_rank(c, "X", 2);
  require_rank(c, "Y", 2);
  const Shape &input = c.shape("Input"), &x = c.shape("X"), &y = c.shape("Y");
  require<ShapeError>(dims_agree(x[1], y[0]), "X ", x.str(), " has ", x[1], " columns, Y ", y.str(), " has ", y[0],
                      " rows: inner dimensions must be equal");
  Shape out{x[0], y[1]};
  require<ShapeError>(input.rank() == 1 || input.rank() == 2, "Input has shape ", input.str(),
                      ", it must have 1 or 2 dimensions");
  for (int i = 0; i < input.rank(); ++i) {
    int64_t wanted = out[2 - input.rank() + i];
    require<ShapeError>(input[i] == 1 || dims_agree(input[i], wanted), "Input ", input.str(), " can't be broadcast to ",
                        out.str());
  }
  return out;
}

}  // namespace

void define_addmm(OpTable& ops) {
  ops.add(OpSchema("addmm")
              .doc("Out = Beta Input + Alpha X Y.")
              .input("Input", "[rows, columns], or a shape that can be broadcast to it")
              .input("X", "[rows, k]")
              .input("Y", "[k, columns]")
              .output("Out", "[rows, columns]")
              .attr("Beta", 1.0f, "factor of Input; if it is 0, Input is not read")
              .attr("Alpha", 1.0f, "factor of the product")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, addmm_shape(c)); })
              .gradient("addmm_grad", {"Input", "X", "Y", "Out@GRAD"}, {"Input@GRAD", "X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<AddmmKernel, float, double>());
  ops.add(ops.gradient_of("addmm")
              .doc("Input@GRAD = Beta Out@GRAD, summed over the broadcast axes; X@GRAD = Alpha Out@GRAD Y', Y@GRAD = "
                   "Alpha X' Out@GRAD.")
              .shape_only("Input")
              .kernels<AddmmGradKernel, float, double>());
}

}  // namespace paddle_mini
