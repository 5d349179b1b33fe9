// Operators on the matrices in the last two axes of a tensor: inverse, determinant, slogdeterminant, cholesky, matrix_power,
// solve, triangular_solve, cholesky_solve, lstsq, eigh, eigvalsh, qr, svd, matrix_rank, lu, lu_unpack.
#pragma once

#include <vector>

#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {

// A tensor as `count` matrices of [rows, columns], one after another.
struct Matrices {
  int64_t count, rows, columns;

  explicit Matrices(const Shape& shape)
      : count(shape.numel(0, shape.rank() - 2)), rows(shape[shape.rank() - 2]), columns(shape[shape.rank() - 1]) {}
  int64_t size() const { return rows * columns; }
  LoopSize loop() const {  // for a decomposition of each
    auto n = static_cast<double>(rows);
    return {count, 200 + flops_cost(16 * n * n * static_cast<double>(columns))};
  }
};

// Calls accept(i) for each matrix and throws the error of the first that is not accepted; `what` completes "matrix 3 of X".
template <class F>
void require_each(KernelContext& context, const Matrices& matrices, const char* port, const char* what, F accept) {
  std::vector<char> accepted(static_cast<size_t>(matrices.count));
  each_item(context, matrices.loop(), [&](int64_t i) { accepted[static_cast<size_t>(i)] = accept(i); });
  for (size_t i = 0; i < accepted.size(); ++i) { require<OpError>(accepted[i], "matrix ", i, " of ", port, " ", what); }
}

// Throws ShapeError unless the input has at least two axes.
void require_matrices(const InferContext& c, const char* port);
// Throws ShapeError unless the last two axes of the input have one size.
void require_square(const InferContext& c, const char* port);
// The axes before the last two.
Shape batch_of(const Shape& shape);
// `batch` with two more axes.
Shape matrices_shape(Shape batch, int64_t rows, int64_t columns);
// For each matrix of the broadcast shape, the matrix of the operand whose batch has this shape.
std::vector<int64_t> broadcast_items(const Shape& operand_batch, const Shape& batch);

}  // namespace paddle_mini
