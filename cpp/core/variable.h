// Variable: the value of a name while a program runs. VarInfo: its description before the run.
#pragma once

#include "core/tensor.h"

namespace paddle_mini {

// Variable kinds of framework.proto's VarType.Type; element types are in core/dtype.h.
enum class VarKind : int32_t {
  Tensor = 7,  // LOD_TENSOR
  SelectedRows = 8,
  FeedList = 9,
  FetchList = 10,
  StepScopes = 11,
  LodRankTable = 12,
  TensorArray = 13,
  Reader = 15,
  Raw = 17,
};
const char* name_of(VarKind kind);  // "tensor", "selected rows"
inline bool holds_tensor(VarKind kind) { return kind == VarKind::Tensor || kind == VarKind::SelectedRows; }

struct VarInfo {
  VarKind kind = VarKind::Tensor;
  DType dtype = DType::Float32;
  Shape shape;  // for SelectedRows: the whole table's, [height, ...]
  int lod_level = 0;      // levels of sequences; the only sequence information while a program is built
  int64_t row_count = 0;  // for SelectedRows: upper bound of the number of rows
  Lod lod = {};           // before a run: sequence boundaries

  std::string str() const { return shape.str() + " " + name_of(dtype); }  // "[8, 4] float32"
  bool operator==(const VarInfo& o) const {
    return kind == o.kind && dtype == o.dtype && shape == o.shape && row_count == o.row_count && lod == o.lod;
  }
};

class Frame;

// SelectedRows are the rows of a table that a gradient touches: rows[i] is the table row of row i of `tensor`. Rows may
// repeat and have any order.
struct Variable {
  VarKind kind = VarKind::Tensor;
  Tensor tensor;              // the value; for SelectedRows, the touched rows
  std::vector<int64_t> rows;  // for SelectedRows
  int64_t height = 0;         // for SelectedRows: number of rows of the whole table
  std::vector<Tensor> array;  // for TensorArray; elements may have no value yet
  std::vector<std::shared_ptr<Frame>> frames;  // for StepScopes: the frame of each step of a block, in order

  bool has_value() const { return tensor.data != nullptr || !holds_tensor(kind); }
  VarInfo info() const;
  // Sets kind, dtype, shape and sequences from `info`, without memory.
  void describe(const VarInfo& info);
  bool is_rows() const { return kind == VarKind::SelectedRows; }
  // Sets the row indices and the row count; the memory was planned for the upper bound.
  void set_rows(const std::vector<int64_t>& touched);
};

}  // namespace paddle_mini
