// Shapes and schemas shared by solve and triangular_solve.
#include "ops/family/linear_system.h"

#include "math/broadcast.h"

namespace paddle_mini {
namespace {

// While sizes are unknown, a Y of one dimension less is taken as vectors, as in PaddlePaddle.
bool holds_vectors(const Shape& x, const Shape& y) {
  if (y.rank() == 1) return true;
  if (y.rank() != x.rank() - 1) return false;
  for (int i = 0; i < y.rank(); ++i) {
    if (y[i] != x[i]) return false;
  }
  return true;
}

}  // namespace

SystemShapes::SystemShapes(const Shape& x, const Shape& y, bool takes_vectors) {
  bool vectors = takes_vectors && holds_vectors(x, y);
  Shape right = y;
  if (vectors) right.push_back(1);
  require<ShapeError>(right.rank() >= 2, "Y has shape ", y.str(), ", it must have at least 2 dimensions");
  n = x[x.rank() - 1], columns = right[right.rank() - 1];
  require<ShapeError>(dims_agree(n, right[right.rank() - 2]), "X has shape ", x.str(), ", Y has ", y.str(), ": ",
                      right[right.rank() - 2], " rows, not ", n);
  Shape x_batch = batch_of(x), y_batch = batch_of(right);
  batch = broadcast_shape(x_batch, y_batch, -1);
  out = matrices_shape(batch, n, columns);
  if (vectors) {
    out = batch;
    out.push_back(n);
  }
  if (out.known() && x.known()) x_items = broadcast_items(x_batch, batch), y_items = broadcast_items(y_batch, batch);
}

SystemShapes checked_system(const InferContext& c, bool takes_vectors) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  require_square(c, "X");
  return {c.shape("X"), c.shape("Y"), takes_vectors};
}

OpSchema linear_system(const char* type, bool takes_vectors) {
  return OpSchema(type)
      .input("X", "[..., n, n]")
      .input("Y",
             takes_vectors ? "[..., n, m]; or vectors: [n], or the shape of X without its last axis" : "[..., n, m]")
      .output("Out", "[..., n, m], or vectors as Y; the axes before them are broadcast")
      .infer([takes_vectors](InferContext& c) {
        c.set_output("Out", c.input("X").dtype, checked_system(c, takes_vectors).out);
      })
      .gradient(std::string(type) + "_grad", {"X", "Y", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
      .checks_data()
      .cpu_only("its decomposition is a sequence of small steps");
}

OpSchema linear_system_gradient(const OpTable& ops, const std::string& forward, bool takes_vectors) {
  return ops.gradient_of(forward)
      .infer([takes_vectors](InferContext& c) {
        SystemShapes shapes = checked_system(c, takes_vectors);
        require<ShapeError>(shapes_agree(shapes.out, c.shape("Out@GRAD")), "Out@GRAD has shape ",
                            c.shape("Out@GRAD").str(), ", Out has ", shapes.out.str());
        require_same_shape(c, "Out", "Out@GRAD");
        gradients_like_inputs(c);
      })
      .shape_only("Y")
      .checks_data();
}

}  // namespace paddle_mini
