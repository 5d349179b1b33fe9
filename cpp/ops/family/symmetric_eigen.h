// Eigenvalues of symmetric and complex Hermitian matrices: eigh, eigvalsh.
#pragma once

#include "math/cpu/eigenvalues.h"
#include "ops/family/matrices.h"

namespace paddle_mini {

// Eigenvalues and Eigenvectors of X; without a variable for the latter they are lost.
template <class T>
struct SymmetricEigenKernel : Kernel {
  In<T> x;
  Out<real_part_of<T>> eigenvalues;
  Out<T> eigenvectors;
  Matrices matrices;
  bool upper;
  Scratch<real_part_of<T>> values;
  Scratch<T> vectors;  // both because a matrix may be refused, and nothing is written before

  explicit SymmetricEigenKernel(KernelInit& init)
      : x(init, "X"), eigenvalues(init, "Eigenvalues"), eigenvectors(init, "Eigenvectors", optional_port),
        matrices(x.shape()), upper(init.attr<std::string>("UPLO") == "U"), values(init, eigenvalues.numel()),
        vectors(init, x.numel()) {}

  void run(KernelContext& context) override {
    int64_t n = matrices.rows, size = matrices.size();
    require_each(context, matrices, "X", "has no eigenvalues: it has elements that are not finite", [&](int64_t i) {
      return symmetric_eigen(x.data() + i * size, n, upper, values.data() + i * n, vectors.data() + i * size);
    });
    std::copy_n(values.data(), values.numel(), eigenvalues.data());
    if (eigenvectors) std::copy_n(vectors.data(), vectors.numel(), eigenvectors.data());
  }
};

// The schema without doc, outputs, gradient and kernels.
OpSchema symmetric_eigen_schema(const char* type);
// Throws ShapeError unless the ports have the type of the parts of Eigenvectors.
void require_real_values(const InferContext& c, std::initializer_list<const char*> ports);
// The shape of Eigenvalues for that of X or Eigenvectors.
Shape eigenvalues_shape(const Shape& matrices);

}  // namespace paddle_mini
