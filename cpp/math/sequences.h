// Sequences: rows of a tensor that belong together. The last level of its lod says where each begins and ends.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Sequence i is the rows [offsets[i], offsets[i + 1]).
using Offsets = std::vector<int64_t>;

// The sequences of a port; nullptr while a program is being built. A port that has none is refused.
const Offsets* sequences(const InferContext& c, const char* port, size_t i = 0);
// For operators that know no groups of sequences: more than one level is refused too.
const Offsets* plain_sequences(const InferContext& c, const char* port, size_t i = 0);

inline int64_t count_of(const Offsets* offsets) { return offsets ? static_cast<int64_t>(offsets->size()) - 1 : -1; }

// The shape with another number of rows.
Shape with_rows(Shape shape, int64_t rows);
// An output without sequences.
void set_plain(InferContext& c, const char* port, DType dtype, const Shape& shape);
// An output of sequences: its last level has these offsets, or ones that are not known yet.
void set_sequences(InferContext& c, const char* port, DType dtype, const Shape& shape, const Offsets* offsets);

// Refuses an Out@GRAD of another shape or element type than Out would have.
void require_gradient_of(const InferContext& c, const char* gradient, const char* like, const Shape& out);

// What a kernel reads; infer has checked them.
const Offsets& offsets_of(const Variable* variable);
inline int64_t row_numel(const Shape& shape) { return shape.numel(1, shape.rank()); }
inline size_t row_bytes(const Variable* variable) {
  return static_cast<size_t>(row_numel(variable->tensor.shape)) * size_of(variable->tensor.dtype);
}

// Rows of a tensor, whatever the element type.
inline char* row_of(const Variable* variable, int64_t row, size_t bytes) {
  return static_cast<char*>(variable->tensor.data) + static_cast<size_t>(row) * bytes;
}

}  // namespace paddle_mini
