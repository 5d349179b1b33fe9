// imag: Out = the imaginary parts of complex numbers
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

struct ImagPart {
  template <class T>
  PM_HD T operator()(Complex<T> x) const {
    return x.imag;
  }
};

struct AsImagPart {
  template <class T>
  PM_HD Complex<T> operator()(T gradient) const {
    return Complex<T>(T(0), gradient);
  }
};

template <class T>
struct ImagGradKernel : Kernel {
  In<T> out_gradient;
  Out<Complex<T>> x_gradient;

  explicit ImagGradKernel(KernelInit& init) : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    map(context, out_gradient.numel(), AsImagPart{}, x_gradient.data(), out_gradient.data());
  }
};

}  // namespace

void define_imag(OpTable& ops) {
  ops.add(OpSchema("imag")
              .doc("Out = the imaginary part of each complex number.")
              .input("X", "complex64 or complex128, any shape")
              .output("Out", "float32 or float64, shape of X")
              .infer([](InferContext& c) {
                require_complex(c, "X");
                infer_parts_of_complex(c);
              })
              .gradient("imag_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<ComplexMapKernel<ImagPart>::For, Complex<float>, Complex<double>>());
  ops.add(ops.gradient_of("imag")
              .doc("X@GRAD = complex numbers whose imaginary parts are Out@GRAD; the other parts are 0.")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_real(c, "Out@GRAD");
                VarInfo x = c.input("Out@GRAD");
                x.dtype = complex_of(x.dtype);
                c.set_output("X@GRAD", x);
              })
              .gradient([](const OpDesc& first) {
                return std::vector<OpDesc>{make_op("imag", {{"X", gradient_names(first.output("X@GRAD"))}},
                                                   {{"Out", gradient_names(first.input("Out@GRAD"))}})};
              })
              .kernels<ImagGradKernel, float, double>());
}

}  // namespace paddle_mini
