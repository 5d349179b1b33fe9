// Schema shared by eigh and eigvalsh.
#include "ops/family/symmetric_eigen.h"

namespace paddle_mini {

Shape eigenvalues_shape(const Shape& matrices) {
  Shape shape = batch_of(matrices);
  shape.push_back(matrices[matrices.rank() - 1]);
  return shape;
}

void require_real_values(const InferContext& c, std::initializer_list<const char*> ports) {
  DType vectors = c.input("Eigenvectors").dtype;
  for (const char* port : ports) {
    DType dtype = c.input(port).dtype;
    require<ShapeError>(dtype == real_of(vectors), port, " is ", name_of(dtype), ", Eigenvectors is ",
                        name_of(vectors));
  }
}

OpSchema symmetric_eigen_schema(const char* type) {
  return OpSchema(type)
      .attr("UPLO", "L", "the triangle of X that is read: L, the lower one, or U", one_of({"L", "U"}))
      .input("X", "[..., n, n], symmetric, or complex and Hermitian")
      .output("Eigenvalues", "[..., n], ascending; real")
      .infer([](InferContext& c) {
        require_tensors(c);
        require_square(c, "X");
        c.set_output("Eigenvalues", real_of(c.input("X").dtype), eigenvalues_shape(c.shape("X")));
        c.set_output("Eigenvectors", c.input("X"));
      })
      .checks_data()
      .cpu_only("its decomposition is a sequence of small steps");
}

}  // namespace paddle_mini
