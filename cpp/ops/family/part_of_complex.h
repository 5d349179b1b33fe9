// real and imag: a part of complex numbers, and the complex numbers that have it as gradient.
#pragma once

#include "ops/family/of_complex.h"

namespace paddle_mini {

// X@GRAD = F(Out@GRAD): complex numbers with one part.
template <class F>
struct PartGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out_gradient;
    Out<Complex<T>> x_gradient;

    explicit For(KernelInit& init) : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
    void run(KernelContext& context) override {
      map(context, out_gradient.numel(), F{}, x_gradient.data(), out_gradient.data());
    }
  };
};

// type: real or imag. Part: of a complex number; AsPart: the complex number with this part, the other one is 0.
template <class Part, class AsPart>
void define_part_of_complex(OpTable& ops, const std::string& type, const std::string& part) {
  ops.add(OpSchema(type)
              .doc("Out = the " + part + " part of each complex number.")
              .input("X", "complex64 or complex128, any shape")
              .output("Out", "float32 or float64, shape of X")
              .infer([](InferContext& c) {
                require_complex(c, "X");
                infer_parts_of_complex(c);
              })
              .gradient(type + "_grad", {"Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .template kernels<ComplexMapKernel<Part>::template For, Complex<float>, Complex<double>>());
  ops.add(ops.gradient_of(type)
              .doc("X@GRAD = complex numbers whose " + part + " parts are Out@GRAD; the other parts are 0.")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_real(c, "Out@GRAD");
                VarInfo x = c.input("Out@GRAD");
                x.dtype = complex_of(x.dtype);
                c.set_output("X@GRAD", x);
              })
              .gradient([type](const OpDesc& first) {
                return std::vector<OpDesc>{make_op(type, {{"X", gradient_names(first.output("X@GRAD"))}},
                                                   {{"Out", gradient_names(first.input("Out@GRAD"))}})};
              })
              .template kernels<PartGradKernel<AsPart>::template For, float, double>());
}

}  // namespace paddle_mini
