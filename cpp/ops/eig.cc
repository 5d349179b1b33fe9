// eig, eigvals: the eigenvalues of square matrices, which are complex, and their eigenvectors
#include "core/op_table.h"
#include "math/cpu/eigenvalues.h"
#include "ops/family/matrices.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

// With vectors: eig.
template <bool with_vectors>
struct GeneralEigenKernel {
  template <class T>
  struct For : Kernel {
    using Value = Complex<real_part_of<T>>;
    In<T> x;
    Out<Value> values, vectors;
    Matrices matrices;
    Scratch<Value> found, found_vectors;  // because a matrix may be refused, and nothing is written before

    explicit For(KernelInit& init)
        : x(init, "X"), values(init, with_vectors ? "Eigenvalues" : "Out"),
          vectors(init, "Eigenvectors", optional_port), matrices(x.shape()), found(init, values.numel()),
          found_vectors(init, with_vectors ? x.numel() : 0) {}

    void run(KernelContext& context) override {
      int64_t n = matrices.rows, size = matrices.size();
      require_each(context, matrices, "X", "has no eigenvalues: it has elements that are not finite", [&](int64_t i) {
        Value* to = with_vectors ? found_vectors.data() + i * size : nullptr;
        return general_eigen(x.data() + i * size, n, found.data() + i * n, to);
      });
      std::copy_n(found.data(), found.numel(), values.data());
      if (with_vectors) std::copy_n(found_vectors.data(), found_vectors.numel(), vectors.data());
    }
  };
};

// PaddlePaddle's programs do not pass X; its gradient is taken to be real then.
template <class V>
struct EigGradKernel : Kernel {
  using T = real_part_of<V>;
  In<V> values, vectors, values_gradient, vectors_gradient;
  Variable& x_gradient;
  Matrices matrices;
  Scratch<V> found;
  bool knows_x;

  explicit EigGradKernel(KernelInit& init)
      : values(init, "Eigenvalues"), vectors(init, "Eigenvectors"), values_gradient(init, "Eigenvalues@GRAD"),
        vectors_gradient(init, "Eigenvectors@GRAD"), x_gradient(*init.output("X@GRAD")), matrices(vectors.shape()),
        found(init, vectors.numel()), knows_x(init.input("X")) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    require_each(context, matrices, "Eigenvectors", "has no inverse: X has no gradient there", [&](int64_t i) {
      return general_eigen_gradient(values.data() + i * n, vectors.data() + i * size, values_gradient.data() + i * n,
                                    vectors_gradient.data() + i * size, n, found.data() + i * size);
    });
    Tensor& to = x_gradient.tensor;
    if (is_complex(to.dtype)) {
      std::copy_n(found.data(), found.numel(), to.as<V>());
      return;
    }
    if (!knows_x) require_real_gradient();
    std::transform(found.data(), found.data() + found.numel(), to.as<T>(), [](V one) { return one.real; });
  }

  // The gradient of a real matrix has imaginary parts by rounding only.
  void require_real_gradient() const {
    T real = 0, imag = 0;
    for (int64_t i = 0; i < found.numel(); ++i) {
      real = std::max(real, std::abs(found[i].real)), imag = std::max(imag, std::abs(found[i].imag));
    }
    require<OpError>(!(imag > T(1e-2) * real), "X@GRAD has imaginary parts up to ", imag, " and real ones up to ", real,
                     ", so X is complex: eig_grad then needs it as an input");
  }
};

Shape values_of(const Shape& matrices) {
  Shape shape = batch_of(matrices);
  shape.push_back(matrices[matrices.rank() - 1]);
  return shape;
}

// The complex type of results for X.
DType result_type(const InferContext& c) {
  require_tensors(c);
  require_square(c, "X");
  DType dtype = c.input("X").dtype;
  bool fits = is_complex(dtype) || dtype == DType::Float32 || dtype == DType::Float64;
  require<ShapeError>(fits, "X is ", name_of(dtype), ", it must be float32, float64, complex64 or complex128");
  return is_complex(dtype) ? dtype : complex_of(dtype);
}

void infer_eig_gradient(InferContext& c) {
  require_tensors(c);
  require_square(c, "Eigenvectors");
  const VarInfo& vectors = c.input("Eigenvectors");
  for (const char* port : {"Eigenvectors", "Eigenvectors@GRAD", "Eigenvalues", "Eigenvalues@GRAD"}) {
    bool of_values = std::string(port).rfind("Eigenvalues", 0) == 0;
    Shape wanted = of_values ? values_of(vectors.shape) : vectors.shape;
    bool fits = shapes_agree(c.shape(port), wanted) && is_complex(vectors.dtype);
    require<ShapeError>(fits && c.input(port).dtype == vectors.dtype, port, " is ", c.shape(port).str(), " ",
                        name_of(c.input(port).dtype), ", beside Eigenvectors ", vectors.shape.str(), " ",
                        name_of(vectors.dtype));
  }
  c.set_output("X@GRAD", c.has_input("X") ? c.input("X").dtype : real_of(vectors.dtype), vectors.shape);
}

template <bool with_vectors>
OpSchema with_eigen_kernels(OpSchema schema) {
  return schema.input("X", "[..., n, n], real or complex")
      .custom_lod()
      .checks_data()
      .cpu_only("its decomposition is a sequence of small steps")
      .template kernels<GeneralEigenKernel<with_vectors>::template For, float, double, Complex<float>,
                        Complex<double>>();
}

}  // namespace

void define_eig(OpTable& ops) {
  ops.add(with_eigen_kernels<true>(OpSchema("eig"))
              .doc("The eigenvalues of each matrix of X, and in the columns of Eigenvectors vectors of length 1 with "
                   "X v = w v. The order of the values is not defined, nor the factor of a vector; where a value of a "
                   "real matrix is complex, or the matrix is, the largest element of the vector is real.")
              .output("Eigenvalues", "[..., n], complex")
              .output("Eigenvectors", "shape of X, complex")
              .infer([](InferContext& c) {
                DType dtype = result_type(c);
                c.set_output("Eigenvalues", dtype, values_of(c.shape("X")));
                c.set_output("Eigenvectors", dtype, c.shape("X"));
              })
              .gradient("eig_grad", {"X", "Eigenvalues", "Eigenvectors", "Eigenvalues@GRAD", "Eigenvectors@GRAD"},
                        {"X@GRAD"}));
  ops.add(ops.gradient_of("eig")
              .doc("With V = Eigenvectors, w = Eigenvalues and G = V^H Eigenvectors@GRAD: X@GRAD = V^-H "
                   "(diagonal(Eigenvalues@GRAD) + (G - V^H V diagonal(real(G))) / conj(w[j] - w[i])) V^H, where the "
                   "quotient is of elements beside the diagonal, 0 for equal eigenvalues; its real part if X is real. "
                   "A matrix whose eigenvectors have no inverse is an error.")
              .optional_input("X", "of which only the element type is read; absent: real")
              .shape_only("X")
              .infer(infer_eig_gradient)
              .dtype_from_input("Eigenvalues")
              .kernels<EigGradKernel, Complex<float>, Complex<double>>());
  ops.add(with_eigen_kernels<false>(OpSchema("eigvals"))
              .doc("The eigenvalues of each matrix of X, in no defined order.")
              .output("Out", "[..., n], complex")
              .infer([](InferContext& c) { c.set_output("Out", result_type(c), values_of(c.shape("X"))); })
              .no_gradient("PaddlePaddle has none either; eig has one"));
}

}  // namespace paddle_mini
