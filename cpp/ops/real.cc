// real: Out = the real parts of complex numbers
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

struct RealPart {
  template <class T>
  PM_HD T operator()(Complex<T> x) const {
    return x.real;
  }
};

struct AsRealPart {
  template <class T>
  PM_HD Complex<T> operator()(T gradient) const {
    return Complex<T>(gradient);
  }
};

template <class T>
struct RealGradKernel : Kernel {
  In<T> out_gradient;
  Out<Complex<T>> x_gradient;

  explicit RealGradKernel(KernelInit& init) : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    map(context, out_gradient.numel(), AsRealPart{}, x_gradient.data(), out_gradient.data());
  }
};

}  // namespace

void define_real(OpTable& ops) {
  ops.add(OpSchema("real")
              .doc("Out = the real part of each complex number.")
              .input("X", "complex64 or complex128, any shape")
              .output("Out", "float32 or float64, shape of X")
              .infer([](InferContext& c) {
                require_complex(c, "X");
                infer_parts_of_complex(c);
              })
              .gradient("real_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<ComplexMapKernel<RealPart>::For, Complex<float>, Complex<double>>());
  ops.add(ops.gradient_of("real")
              .doc("X@GRAD = complex numbers whose real parts are Out@GRAD; the other parts are 0.")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_real(c, "Out@GRAD");
                VarInfo x = c.input("Out@GRAD");
                x.dtype = complex_of(x.dtype);
                c.set_output("X@GRAD", x);
              })
              .gradient([](const OpDesc& first) {
                return std::vector<OpDesc>{make_op("real", {{"X", gradient_names(first.output("X@GRAD"))}},
                                                   {{"Out", gradient_names(first.input("Out@GRAD"))}})};
              })
              .kernels<RealGradKernel, float, double>());
}

}  // namespace paddle_mini
