// fft_c2c, fft_r2c, fft_c2r: discrete Fourier transforms of complex and real tensors along some axes
#include <algorithm>
#include <vector>

#include "core/second_gradient.h"
#include "math/cpu/fourier.h"
#include "ops/family/fourier.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

using Fourier = fourier::Transform;

// Out = the transform of X along all axes; backward: its adjoint, the other direction with the same factor.
template <bool backward>
struct FftC2cKernel {
  template <class T>
  struct For : Kernel {
    using Part = real_part_of<T>;
    In<T> in;
    Out<T> out;
    Fourier transform;
    std::vector<fourier::Axis<Part>> axes;

    explicit For(KernelInit& init)
        : in(init, backward ? "Out@GRAD" : "X"), out(init, backward ? "X@GRAD" : "Out"),
          transform(init.op(), in.shape(), backward),
          axes(transform.whole_axes<Part>(out.shape(), transform.axes.size(), init.threads())) {}

    void run(KernelContext& context) override {
      copy_n(context, in.data(), in.numel(), out.data());
      for (auto& axis : axes) axis.run(context, out.data());
      fourier::scale(context, out.numel(), static_cast<Part>(transform.factor), out.data());
    }
  };
};

// From real numbers: X of fft_r2c, or Out@GRAD of fft_c2r. The last axis comes first, while the numbers are real.
template <bool backward>
struct FromRealKernel {
  template <class T>
  struct For : Kernel {
    In<T> in;
    Out<Complex<T>> out;
    Fourier transform;
    fourier::Axis<T> last;
    std::vector<fourier::Axis<T>> others;

    explicit For(KernelInit& init)
        : in(init, backward ? "Out@GRAD" : "X"), out(init, backward ? "X@GRAD" : "Out"),
          transform(init.op(), in.shape(), backward),
          last(in.shape(), transform.last(), transform.forward, init.threads()),
          others(transform.whole_axes<T>(out.shape(), transform.axes.size() - 1, init.threads())) {}

    void run(KernelContext& context) override {
      const int64_t n = last.length, kept = out.shape()[transform.last()];
      last.each(
          context,
          [&](int64_t line, Complex<T>* to) {
            const T* from = in.data() + last.start(line, n);
            for (int64_t k = 0; k < n; ++k) to[k] = Complex<T>(from[k * last.inner]);
          },
          [&](int64_t line, const Complex<T>* from) {
            Complex<T>* to = out.data() + last.start(line, kept);
            for (int64_t k = 0; k < kept; ++k) {
              // fft_c2r reads an element for itself and for its conjugate, except the first and, of even n, the last.
              bool twice = backward && k > 0 && 2 * k != n;
              to[k * last.inner] = twice ? from[k] * T(2) : from[k];
            }
          });
      for (auto& axis : others) axis.run(context, out.data());
      fourier::scale(context, out.numel(), static_cast<T>(transform.factor), out.data());
    }
  };
};

// To real numbers: Out of fft_c2r, or X@GRAD of fft_r2c. The last axis comes last.
template <bool backward>
struct ToRealKernel {
  template <class Number>
  struct For : Kernel {
    using T = real_part_of<Number>;  // Number is the type of the operator's first input
    In<Complex<T>> in;
    Out<T> out;
    Fourier transform;
    Scratch<Complex<T>> work;
    fourier::Axis<T> last;
    std::vector<fourier::Axis<T>> others;

    explicit For(KernelInit& init)
        : in(init, backward ? "Out@GRAD" : "X"), out(init, backward ? "X@GRAD" : "Out"),
          transform(init.op(), out.shape(), backward), work(init, in.numel()),
          last(out.shape(), transform.last(), transform.forward, init.threads()),
          others(transform.whole_axes<T>(in.shape(), transform.axes.size() - 1, init.threads())) {}

    void run(KernelContext& context) override {
      const int64_t n = last.length, given = in.shape()[transform.last()];
      const T factor = static_cast<T>(transform.factor);
      copy_n(context, in.data(), in.numel(), work.data());
      for (auto& axis : others) axis.run(context, work.data());
      last.each(
          context,
          [&](int64_t line, Complex<T>* to) {
            const Complex<T>* from = work.data() + last.start(line, given);
            for (int64_t k = 0; k < given; ++k) to[k] = from[k * last.inner];
            // The gradient of fft_r2c has zeros for the elements that it leaves out; fft_c2r their conjugates.
            for (int64_t k = given; k < n; ++k) to[k] = backward ? Complex<T>(T(0)) : conj(to[n - k]);
            if (!backward) to[0].imag = T(0);
            if (!backward && n % 2 == 0) to[n / 2].imag = T(0);
          },
          [&](int64_t line, const Complex<T>* from) {
            T* to = out.data() + last.start(line, n);
            for (int64_t k = 0; k < n; ++k) to[k * last.inner] = from[k].real * factor;
          });
    }
  };
};

OpSchema fft(const char* type) {
  return OpSchema(type)
      .required_attr("axes", AttrType::Longs, "the axes; negative ones count from the end")
      .required_attr("normalization", AttrType::String,
                     "\"forward\" or \"backward\": this direction divides by the number of elements of a transform; "
                     "\"ortho\": both divide by its root",
                     one_of({"forward", "backward", "ortho"}))
      .required_attr("forward", AttrType::Boolean, "the direction: exp(-2 pi i j k / n), or with + if false")
      .cpu_only("the FFT is Eigen's, which is for CPUs");
}

const char* kWithLast = "The last of the axes is the one whose elements are each other's conjugates.";

void add_c2c(OpTable& ops) {
  ops.add(fft("fft_c2c")
              .doc("Out = the discrete Fourier transform of complex numbers along the axes.")
              .input("X", "complex64 or complex128; at least one element along each of the axes")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                require_complex(c, "X");
                fourier::require_axes(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("fft_c2c_grad", {"Out@GRAD"}, {"X@GRAD"})
              .kernels<FftC2cKernel<false>::For, Complex<float>, Complex<double>>());
  ops.add(linear_gradient_of(ops, "fft_c2c")
              .doc("X@GRAD = the transform of Out@GRAD in the other direction, with the same factor.")
              .infer([](InferContext& c) {
                require_complex(c, "Out@GRAD");
                fourier::require_axes(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
              })
              .kernels<FftC2cKernel<true>::For, Complex<float>, Complex<double>>());
}

void add_r2c(OpTable& ops) {
  ops.add(fft("fft_r2c")
              .doc(std::string("Out = the discrete Fourier transform of real numbers along the axes. ") + kWithLast)
              .input("X", "float32 or float64; at least one element along each of the axes")
              .output("Out",
                      "complex64 or complex128: shape of X; if onesided, n / 2 + 1 elements along the last of "
                      "the axes, where X has n")
              .required_attr("onesided", AttrType::Boolean,
                             "whether Out leaves out the conjugates of its other elements")
              .infer([](InferContext& c) {
                require_real(c, "X");
                c.set_output("Out", complex_of(c.input("X").dtype), fourier::from_real_shape(c, "X"));
              })
              .gradient("fft_r2c_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .kernels<FromRealKernel<false>::For, float, double>());
  ops.add(linear_gradient_of(ops, "fft_r2c")
              .doc("X@GRAD = the real parts of the transform of Out@GRAD in the other direction, with the same factor; "
                   "elements that Out leaves out have a gradient of 0.")
              .shape_only("X")
              .infer([](InferContext& c) {
                require_real(c, "X");
                Shape out = fourier::from_real_shape(c, "X");
                DType dtype = complex_of(c.input("X").dtype), gradient = c.input("Out@GRAD").dtype;
                require<ShapeError>(gradient == dtype, "Out@GRAD is ", name_of(gradient), ", Out is ", name_of(dtype));
                require<ShapeError>(shapes_agree(out, c.shape("Out@GRAD")), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out has ", out.str());
                c.set_output("X@GRAD", c.input("X"));
              })
              .kernels<ToRealKernel<true>::For, float, double>());
}

void add_c2r(OpTable& ops) {
  ops.add(fft("fft_c2r")
              .doc(std::string("Out = the discrete Fourier transform, along the axes, of complex numbers whose "
                               "transform is real. ") +
                   kWithLast + " X has the first half of them.")
              .input("X", "complex64 or complex128; n / 2 + 1 elements along the last of the axes")
              .output("Out", "float32 or float64: shape of X, with n elements along the last of the axes")
              .attr("last_dim_size", int64_t{0}, "n; 0: 2 (m - 1), where X has m elements along the last of the axes",
                    at_least(0))
              .infer([](InferContext& c) {
                require_complex(c, "X");
                c.set_output("Out", real_of(c.input("X").dtype), fourier::to_real_shape(c));
              })
              .gradient("fft_c2r_grad", {"Out@GRAD"}, {"X@GRAD"})
              .kernels<ToRealKernel<false>::For, Complex<float>, Complex<double>>());
  ops.add(linear_gradient_of(ops, "fft_c2r")
              .doc("X@GRAD = the transform of Out@GRAD in the other direction, with the same factor, twice that for "
                   "elements that Out reads twice.")
              .infer([](InferContext& c) {
                require_real(c, "Out@GRAD");
                c.set_output("X@GRAD", complex_of(c.input("Out@GRAD").dtype), fourier::from_real_shape(c, "Out@GRAD"));
              })
              .kernels<FromRealKernel<true>::For, float, double>());
}

}  // namespace

void define_fft_c2c(OpTable& ops) {
  add_c2c(ops);
  add_r2c(ops);
  add_c2r(ops);
}

}  // namespace paddle_mini
