// complex: Out = complex numbers of real parts X and imaginary parts Y
#include "math/broadcast.h"
#include "math/copy.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

struct FromParts {
  template <class T>
  PM_HD Complex<T> operator()(Complex<T> x, Complex<T> y) const {
    return Complex<T>(x.real, y.real);
  }
};
struct AddRealPart {
  template <class T>
  PM_HD Complex<T> operator()(Complex<T>, Complex<T>, Complex<T> gradient) const {
    return Complex<T>(gradient.real);
  }
};
struct AddImagPart {
  template <class T>
  PM_HD Complex<T> operator()(Complex<T>, Complex<T>, Complex<T> gradient) const {
    return Complex<T>(gradient.imag);
  }
};
struct ToRealPart {
  template <class T>
  PM_HD T operator()(Complex<T> x) const {
    return x.real;
  }
};
struct WidenPart {
  template <class T>
  PM_HD Complex<T> operator()(T x) const {
    return Complex<T>(x);
  }
};

// The operands are widened to complex numbers first, so that one loop broadcasts them.
template <class T>
struct ComplexKernel : Kernel {
  In<T> x, y;
  Out<Complex<T>> out;
  Scratch<Complex<T>> wide_x, wide_y;
  Broadcast broadcast;

  explicit ComplexKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), wide_x(init, x.numel()), wide_y(init, y.numel()),
        broadcast(x.shape(), y.shape(), -1) {}
  void run(KernelContext& context) override {
    map(context, x.numel(), WidenPart{}, wide_x.data(), x.data());
    map(context, y.numel(), WidenPart{}, wide_y.data(), y.data());
    const Complex<T>*a = wide_x.data(), *b = wide_y.data();
    broadcast.map(context, FromParts{}, a, b, out.data());
  }
};

template <class T>
struct ComplexGradKernel : Kernel {
  In<T> x, y;
  In<Complex<T>> out_gradient;
  Out<T> x_gradient, y_gradient;
  Scratch<Complex<T>> wide_x, wide_y;  // sums; the loops read no operand
  Broadcast broadcast;

  explicit ComplexGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), wide_x(init, x.numel()), wide_y(init, y.numel()),
        broadcast(x.shape(), y.shape(), -1) {}
  void run(KernelContext& context) override {
    const Complex<T>*g = out_gradient.data(), *a = wide_x.data(), *b = wide_y.data();
    fill_n(context, wide_x.data(), x.numel(), Complex<T>(T(0)));
    fill_n(context, wide_y.data(), y.numel(), Complex<T>(T(0)));
    if (x_gradient) {
      broadcast.sum_to_x(context, AddRealPart{}, a, b, g, wide_x.data());
      map(context, x.numel(), ToRealPart{}, x_gradient.data(), a);
    }
    if (!y_gradient) return;
    broadcast.sum_to_y(context, AddImagPart{}, a, b, g, wide_y.data());
    map(context, y.numel(), ToRealPart{}, y_gradient.data(), b);
  }
};

Shape complex_shape(const InferContext& c) {
  require_tensors(c);
  require_real(c, "X");
  require_same_dtype(c, "X", "Y");
  return broadcast_shape(c.shape("X"), c.shape("Y"), -1);
}

}  // namespace

void define_complex(OpTable& ops) {
  ops.add(OpSchema("complex")
              .doc("Out = X + i Y, where X and Y are real and broadcast as in NumPy.")
              .input("X", "float32 or float64: the real parts")
              .input("Y", "of X's type, a shape that can be broadcast with X's: the imaginary parts")
              .output("Out", "complex64 or complex128, the broadcast shape")
              .infer([](InferContext& c) { c.set_output("Out", complex_of(c.input("X").dtype), complex_shape(c)); })
              .gradient("complex_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .cpu_only("it widens its operands in memory of the host")
              .kernels<ComplexKernel, float, double>());
  ops.add(ops.gradient_of("complex")
              .doc("X@GRAD = the real parts of Out@GRAD and Y@GRAD = its imaginary parts, each summed over the axes it "
                   "was broadcast along.")
              .shape_only("X")
              .shape_only("Y")
              .infer([](InferContext& c) {
                Shape out = complex_shape(c);
                DType dtype = complex_of(c.input("X").dtype), gradient = c.input("Out@GRAD").dtype;
                require<ShapeError>(gradient == dtype, "Out@GRAD is ", name_of(gradient), ", Out is ", name_of(dtype));
                require<ShapeError>(shapes_agree(out, c.shape("Out@GRAD")), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out has ", out.str());
                c.set_output("X@GRAD", c.input("X"));
                c.set_output("Y@GRAD", c.input("Y"));
              })
              .kernels<ComplexGradKernel, float, double>());
}

}  // namespace paddle_mini
