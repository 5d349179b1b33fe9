// Products of complex matrices on a CPU, as four products of their parts.
#pragma once

#include "math/complex.h"
#include "math/cpu/each_item.h"
#include "ops/family/matmul.h"

namespace paddle_mini {

// The parts of complex matrices as real ones.
template <class T>
struct PartsOf {
  Scratch<T> real, imag;

  PartsOf(KernelInit& init, int64_t count) : real(init, count), imag(init, count) {}

  void read(KernelContext& context, const Complex<T>* from) const {
    each_item(context, loop(), [&](int64_t i) { real[i] = from[i].real, imag[i] = from[i].imag; });
  }
  void write(KernelContext& context, Complex<T>* to) const {
    each_item(context, loop(), [&](int64_t i) { to[i] = Complex<T>(real[i], imag[i]); });
  }
  void clear(KernelContext& context) const {
    for (const Scratch<T>* part : {&real, &imag}) fill_n(context, part->data(), part->numel(), T(0));
  }
  LoopSize loop() const { return {real.numel(), bytes_cost(4.0 * sizeof(T))}; }
};

// c += a b, where the conjugate of one factor may be taken.
template <class T>
struct ComplexGemm {
  Gemm<T> add, subtract;

  ComplexGemm() = default;
  ComplexGemm(GemmSizes<T> sizes, int threads) {
    sizes.beta = 1;
    add = {sizes, threads};
    sizes.alpha = -sizes.alpha;
    subtract = {sizes, threads};
  }

  struct Place {
    const PartsOf<T>& parts;
    int64_t at;
    bool conjugate = false;
    T* real() const { return parts.real.data() + at; }
    T* imag() const { return parts.imag.data() + at; }
  };
  void run(KernelContext& context, Place a, Place b, Place c) const {
    const Gemm<T>& of_imag = a.conjugate == b.conjugate ? subtract : add;
    add.run(context, a.real(), b.real(), c.real());
    of_imag.run(context, a.imag(), b.imag(), c.real());
    (b.conjugate ? subtract : add).run(context, a.real(), b.imag(), c.imag());
    (a.conjugate ? subtract : add).run(context, a.imag(), b.real(), c.imag());
  }
};

template <class Operands>
struct ComplexMatmulKernel {
  template <class Number>
  struct For : Kernel {
    using T = real_part_of<Number>;
    In<Number> x, y;
    Out<Number> out;
    Products products;
    PartsOf<T> x_parts, y_parts, out_parts;
    ComplexGemm<T> gemm;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, Operands::kY), out(init, "Out"), products(Operands::shape(init)),
          x_parts(init, x.numel()), y_parts(init, y.numel()), out_parts(init, out.numel()) {
      const MatmulShape& s = products.shape;
      gemm = {{s.transpose_x, s.transpose_y, products.m, s.n, s.k, 0, 0, 0, static_cast<T>(Operands::alpha(init))},
              init.threads()};
    }

    void run(KernelContext& context) override {
      x_parts.read(context, x.data());
      y_parts.read(context, y.data());
      out_parts.clear(context);
      int64_t to = 0;
      for (auto [i, j] : products.batches) {
        gemm.run(context, {x_parts, i * products.x_size()}, {y_parts, j * products.y_size()}, {out_parts, to});
        to += products.out_size();
      }
      out_parts.write(context, out.data());
    }
  };
};

// The conjugates of MatmulGradKernel: X@GRAD = Out@GRAD conj(Y)', Y@GRAD = conj(X)' Out@GRAD.
template <class Operands>
struct ComplexMatmulGradKernel {
  template <class Number>
  struct For : Kernel {
    using T = real_part_of<Number>;
    In<Number> x, y, out_gradient;
    Out<Number> x_gradient, y_gradient;
    Products products;
    PartsOf<T> x_parts, y_parts, slope, to_x_parts, to_y_parts;
    ComplexGemm<T> to_x, to_y;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, Operands::kY), out_gradient(init, "Out@GRAD"),
          x_gradient(init, "X@GRAD", optional_port), y_gradient(init, Operands::kYGradient, optional_port),
          products(Operands::shape(init)), x_parts(init, x.numel()), y_parts(init, y.numel()),
          slope(init, out_gradient.numel()), to_x_parts(init, x_gradient ? x.numel() : 0),
          to_y_parts(init, y_gradient ? y.numel() : 0) {
      const T alpha = static_cast<T>(Operands::alpha(init));
      bool transpose_x = products.shape.transpose_x, transpose_y = products.shape.transpose_y;
      int64_t m = products.m, k = products.shape.k, n = products.shape.n;
      to_x = {{transpose_x && transpose_y, transpose_x || !transpose_y, transpose_x ? k : m, transpose_x ? m : k, n, 0,
               0, 0, alpha},
              init.threads()};
      to_y = {{transpose_y || !transpose_x, transpose_x && transpose_y, transpose_y ? n : k, transpose_y ? k : n, m, 0,
               0, 0, alpha},
              init.threads()};
    }

    void run(KernelContext& context) override {
      x_parts.read(context, x.data());
      y_parts.read(context, y.data());
      slope.read(context, out_gradient.data());
      to_x_parts.clear(context);
      to_y_parts.clear(context);
      int64_t from = 0;
      for (auto [i, j] : products.batches) {
        using Place = typename ComplexGemm<T>::Place;
        int64_t at_x = i * products.x_size(), at_y = j * products.y_size();
        Place a{x_parts, at_x, true}, b{y_parts, at_y, true}, g{slope, from};
        if (x_gradient && products.shape.transpose_x) to_x.run(context, b, g, {to_x_parts, at_x});
        if (x_gradient && !products.shape.transpose_x) to_x.run(context, g, b, {to_x_parts, at_x});
        if (y_gradient && products.shape.transpose_y) to_y.run(context, g, a, {to_y_parts, at_y});
        if (y_gradient && !products.shape.transpose_y) to_y.run(context, a, g, {to_y_parts, at_y});
        from += products.out_size();
      }
      if (x_gradient) to_x_parts.write(context, x_gradient.data());
      if (y_gradient) to_y_parts.write(context, y_gradient.data());
    }
  };
};

}  // namespace paddle_mini
