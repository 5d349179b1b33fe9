// Sequences: groups of consecutive rows of a tensor, delimited by the last level of its lod.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Sequence i has the rows [offsets[i], offsets[i + 1]).
using Offsets = std::vector<int64_t>;

// The sequences of a port; nullptr while a program is being built. Throws if the port has none.
const Offsets* sequences(const InferContext& c, const char* port, size_t i = 0);
// For operators that do not support nested sequences: also throws if there is more than one level.
const Offsets* plain_sequences(const InferContext& c, const char* port, size_t i = 0);

inline int64_t count_of(const Offsets* offsets) { return offsets ? static_cast<int64_t>(offsets->size()) - 1 : -1; }

// The shape with another number of rows.
Shape with_rows(Shape shape, int64_t rows);
// Sets an output without sequences.
void set_plain(InferContext& c, const char* port, DType dtype, const Shape& shape);
// Sets an output with sequences: its last level has these offsets, or unknown ones if nullptr.
void set_sequences(InferContext& c, const char* port, DType dtype, const Shape& shape, const Offsets* offsets);

// Throws if Out@GRAD differs from Out in shape or element type.
void require_gradient_of(const InferContext& c, const char* gradient, const char* like, const Shape& out);

// For kernels, after infer has checked the offsets.
const Offsets& offsets_of(const Variable* variable);
inline int64_t row_numel(const Shape& shape) { return shape.numel(1, shape.rank()); }
inline size_t row_bytes(const Variable* variable) {
  return static_cast<size_t>(row_numel(variable->tensor.shape)) * size_of(variable->tensor.dtype);
}

// Address of a row of a tensor of any element type.
inline char* row_of(const Variable* variable, int64_t row, size_t bytes) {
  return static_cast<char*>(variable->tensor.data) + static_cast<size_t>(row) * bytes;
}

}  // namespace paddle_mini
