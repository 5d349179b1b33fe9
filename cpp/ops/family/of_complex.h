// Operators of complex numbers: their kernels, and the shared part of their schemas.
#pragma once

#include "core/op_table.h"
#include "math/complex.h"
#include "math/map.h"

namespace paddle_mini {

// Adds kernels for complex64 and complex128, which the CPU alone has: on a GPU the executor says so, or falls back.
template <template <class> class K>
OpSchema with_complex(OpSchema schema) {
  if constexpr (!kOnGpu) schema.kernels<K, Complex<float>, Complex<double>>();
  return schema;
}

// `infer` of functions whose result is real: Out has the shape of X and the type of its parts.
inline void infer_parts_of_complex(InferContext& c) {
  require_tensors(c);
  VarInfo out = c.input("X");
  out.dtype = real_of(out.dtype);
  c.set_output("Out", out);
}
inline void require_complex(const InferContext& c, const char* port) {
  DType dtype = c.input(port).dtype;
  require<ShapeError>(is_complex(dtype), port, " is ", name_of(dtype), ", it must be complex64 or complex128");
}
inline void require_real(const InferContext& c, const char* port) {
  DType dtype = c.input(port).dtype;
  require<ShapeError>(dtype == DType::Float32 || dtype == DType::Float64, port, " is ", name_of(dtype),
                      ", it must be float32 or float64");
}
// `infer` of their gradients.
inline void infer_gradient_of_parts(InferContext& c) {
  require_tensors(c);
  require_same_shape(c, "X", "Out@GRAD");
  DType gradient = c.input("Out@GRAD").dtype, part = real_of(c.input("X").dtype);
  require<ShapeError>(gradient == part, "Out@GRAD is ", name_of(gradient), ", Out is ", name_of(part));
  c.set_output("X@GRAD", c.input("X"));
}

// Out = F(X), where F gives the parts of another type or of a complex type.
template <class F>
struct ComplexMapKernel {
  template <class T>
  struct For : Kernel {
    using Result = std::decay_t<decltype(F{}(std::declval<T>()))>;
    In<T> x;
    Out<Result> out;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out") {}
    void run(KernelContext& context) override { map(context, x.numel(), F{}, out.data(), x.data()); }
  };
};

// X@GRAD = F(X, Out@GRAD) for a complex X and a real Out.
template <class F>
struct PartsGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    In<real_part_of<T>> out_gradient;
    Out<T> x_gradient;

    explicit For(KernelInit& init) : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
    void run(KernelContext& context) override {
      map(context, x.numel(), F{}, x_gradient.data(), x.data(), out_gradient.data());
    }
  };
};

}  // namespace paddle_mini
