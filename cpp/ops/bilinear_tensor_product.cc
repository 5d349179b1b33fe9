// bilinear_tensor_product: Out[b, s] = X[b] Weight[s] Y[b]' + Bias[s]
#include "core/op_table.h"
#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/gemm.h"

namespace paddle_mini {
namespace {

struct BilinearSizes {
  int64_t batch, x, y, out;

  BilinearSizes(const Shape& x_shape, const Shape& weight)
      : batch(x_shape[0]), x(weight[1]), y(weight[2]), out(weight[0]) {}
};

template <class T>
struct BilinearKernel : Kernel {
  In<T> x, y, weight, bias;
  Out<T> out;
  BilinearSizes s;
  Gemm<T> gemm;
  Scratch<T> product;  // X Weight[s]

  explicit BilinearKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), weight(init, "Weight"), bias(init, "Bias", optional_port), out(init, "Out"),
        s(x.shape(), weight.shape()), product(init, s.batch * s.y) {
    gemm = {{false, false, s.batch, s.y, s.x}, init.threads()};
  }

  void run(KernelContext& context) override {
    for (int64_t o = 0; o < s.out; ++o) {
      gemm.run(context, x.data(), weight.data() + o * s.x * s.y, product.data());
      add_up(context, o);
    }
  }

  void add_up(KernelContext& context, int64_t o);
};

template <class T>
struct SumOfColumn {
  const T* gradient;
  BilinearSizes s;
  T* out;
  PM_HD void operator()(int64_t o) const {
    double sum = 0;
    for (int64_t b = 0; b < s.batch; ++b) sum += static_cast<double>(gradient[b * s.out + o]);
    out[o] = static_cast<T>(sum);
  }
};

// With G = diag(Out@GRAD[:, s]): X@GRAD = sum over s of G Y Weight[s]', Y@GRAD = sum over s of G X Weight[s],
// Weight@GRAD[s] = X' G Y, Bias@GRAD[s] = sum of G.
template <class T>
struct BilinearGradKernel : Kernel {
  In<T> x, y, weight, out_gradient;
  Out<T> x_gradient, y_gradient, weight_gradient, bias_gradient;
  BilinearSizes s;
  Gemm<T> to_x, to_y, to_weight;
  Scratch<T> scaled_x, scaled_y;

  explicit BilinearGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), weight(init, "Weight"), out_gradient(init, "Out@GRAD"),
        x_gradient(init, "X@GRAD", optional_port), y_gradient(init, "Y@GRAD", optional_port),
        weight_gradient(init, "Weight@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        s(x.shape(), weight.shape()), scaled_x(init, y_gradient ? s.batch * s.x : 0),
        scaled_y(init, x_gradient || weight_gradient ? s.batch * s.y : 0) {
    to_x = {{false, true, s.batch, s.x, s.y, 0, 0, 0, T(1), T(1)}, init.threads()};
    to_y = {{false, false, s.batch, s.y, s.x, 0, 0, 0, T(1), T(1)}, init.threads()};
    to_weight = {{true, false, s.x, s.y, s.batch}, init.threads()};
  }

  void run(KernelContext& context) override {
    if (x_gradient) fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    if (y_gradient) fill_n(context, y_gradient.data(), y_gradient.numel(), T(0));
    for (int64_t o = 0; o < s.out; ++o) {
      const T* w = weight.data() + o * s.x * s.y;
      if (x_gradient || weight_gradient) scale(context, o, s.y, y.data(), scaled_y.data());
      if (y_gradient) scale(context, o, s.x, x.data(), scaled_x.data());
      if (x_gradient) to_x.run(context, scaled_y.data(), w, x_gradient.data());
      if (y_gradient) to_y.run(context, scaled_x.data(), w, y_gradient.data());
      if (weight_gradient) to_weight.run(context, x.data(), scaled_y.data(), weight_gradient.data() + o * s.x * s.y);
    }
    if (bias_gradient) for_each_index(context, s.out, SumOfColumn<T>{out_gradient.data(), s, bias_gradient.data()});
  }

  void scale(KernelContext& context, int64_t o, int64_t size, const T* from, T* to);
};

Shape bilinear_shape(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 2);
  require_rank(c, "Y", 2);
  require_rank(c, "Weight", 3);
  for (const char* port : {"Y", "Weight"}) require_same_dtype(c, "X", port);
  const Shape &x = c.shape("X"), &y = c.shape("Y"), &weight = c.shape("Weight");
  require<ShapeError>(dims_agree(x[0], y[0]), "X ", x.str(), " has ", x[0], " rows, Y ", y.str(), " has ", y[0]);
  require<ShapeError>(dims_agree(x[1], weight[1]) && dims_agree(y[1], weight[2]), "Weight ", weight.str(),
                      " does not fit X ", x.str(), " and Y ", y.str());
  if (c.has_input("Bias")) {
    const Shape& bias = c.shape("Bias");
    require_same_dtype(c, "X", "Bias");
    require<ShapeError>(shapes_agree(bias, Shape{1, weight[0]}), "Bias has shape ", bias.str(), ", with Weight ",
                        weight.str(), " it must be ", Shape{1, weight[0]}.str());
  }
  return {x[0] < 0 ? y[0] : x[0], weight[0]};
}

void infer_bilinear_backward(InferContext& c) {
  Shape out = bilinear_shape(c);
  require_same_dtype(c, "X", "Out@GRAD");
  require<ShapeError>(same_shape(out, c.shape("Out@GRAD")), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", Out has ", out.str());
  c.set_output("X@GRAD", c.input("X"));
  c.set_output("Y@GRAD", c.input("Y"));
  c.set_output("Weight@GRAD", c.input("Weight"));
  c.set_output("Bias@GRAD", c.input("X").dtype, {1, out[1]});
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(bilinear_tensor_product)

namespace paddle_mini {

void define_bilinear_tensor_product(OpTable& ops) {
  ops.add(OpSchema("bilinear_tensor_product")
              .doc("Out[b, s] = X[b] Weight[s] Y[b]' + Bias[s].")
              .input("X", "[batch, m]")
              .input("Y", "[batch, n]")
              .input("Weight", "[size, m, n]")
              .optional_input("Bias", "[1, size]; 0 if omitted")
              .output("Out", "[batch, size]")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, bilinear_shape(c)); })
              .gradient("bilinear_tensor_product_grad", {"X", "Y", "Weight", "Out@GRAD"},
                        {"X@GRAD", "Y@GRAD", "Weight@GRAD", "Bias@GRAD"})
              .on_gpu()
              .kernels<BilinearKernel, float, double>());
  ops.add(ops.gradient_of("bilinear_tensor_product")
              .doc("With G = Out@GRAD[:, s]: X@GRAD = sum over s of G Y Weight[s]', Y@GRAD = sum of G X Weight[s], "
                   "Weight@GRAD[s] = X' G Y, Bias@GRAD[s] = sum of G.")
              .infer(infer_bilinear_backward)
              .kernels<BilinearGradKernel, float, double>());
}

}  // namespace paddle_mini
