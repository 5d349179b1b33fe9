// Diagonals of the matrices that two axes of a tensor form: diagonal, diag_embed, fill_diagonal_tensor.
#pragma once

#include <algorithm>

#include "core/op_table.h"
#include "math/copy.h"
#include "math/strided_places.h"

namespace paddle_mini {

struct MatrixAxes {
  int rows, columns;
  int64_t offset;

  MatrixAxes(const Shape& x, const char* port, int64_t rows_attr, int64_t columns_attr, int64_t offset,
             const char* rows_name, const char* columns_name)
      : offset(offset) {
    require<ShapeError>(x.rank() >= 2, port, " has shape ", x.str(), ", it must have at least 2 dimensions");
    rows = normal_axis(rows_attr, x.rank(), rows_name);
    columns = normal_axis(columns_attr, x.rank(), columns_name);
    require<ShapeError>(rows != columns, rows_name, " and ", columns_name, " are both axis ", rows);
  }

  int64_t length(const Shape& x) const {
    if (x[rows] < 0 || x[columns] < 0) return -1;
    int64_t down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
    return std::max<int64_t>(std::min(x[rows] - down, x[columns] - right), 0);
  }
  // The other axes of x, then the elements of the diagonal.
  Shape diagonals(const Shape& x) const {
    Shape out;
    for (int i = 0; i < x.rank(); ++i) {
      if (i != rows && i != columns) out.push_back(x[i]);
    }
    out.push_back(length(x));
    return out;
  }
  // Offsets in x of all elements of diagonals(x).
  StridedPlaces places(const Shape& x) const {
    StridedPlaces found;
    auto step = [&x](int axis) { return x.numel(axis + 1, x.rank()); };
    for (int i = 0; i < x.rank(); ++i) {
      if (i != rows && i != columns) found.add(x[i], step(i));
    }
    found.add(length(x), step(rows) + step(columns));
    found.first = std::max<int64_t>(-offset, 0) * step(rows) + std::max<int64_t>(offset, 0) * step(columns);
    return found;
  }
};

inline void fill_with_zeros(KernelContext& context, const Tensor& to) {
  fill_n(context, static_cast<uint8_t*>(to.data), to.shape.numel() * static_cast<int64_t>(size_of(to.dtype)),
         uint8_t{0});
}

// The list port = the diagonals of the tensor port, or with `put` the tensor port = 0 with the list in the diagonals.
template <class Axes, bool put>
struct DiagonalsKernel : Kernel {
  const Variable& from;
  Variable& to;
  StridedPlaces places;

  DiagonalsKernel(const KernelInit& init, const char* from_port, const char* to_port)
      : from(*init.input(from_port)), to(*init.output(to_port)) {
    const Shape& matrices = put ? to.tensor.shape : from.tensor.shape;
    places = Axes(init, matrices).places(matrices);
  }

  void run(KernelContext& context) override {
    const Tensor& list = put ? from.tensor : to.tensor;
    const size_t bytes = size_of(list.dtype);
    if (put) fill_with_zeros(context, to.tensor);
    (put ? put_places : take_places)(context, bytes, list.shape.numel(), places, from.tensor.data, to.tensor.data);
  }
};

}  // namespace paddle_mini
