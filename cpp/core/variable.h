// Variable: what a name stands for while a program runs; VarInfo: what is known of it before.
#pragma once

#include "core/tensor.h"

namespace paddle_mini {

// The kinds of variable among framework.proto's VarType.Type; element types are core/dtype.h's.
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
  Shape shape;  // of SelectedRows: the whole table's, [height, ...]
  int lod_level = 0;      // levels of sequences; while a program is being built all that is known of them
  int64_t row_count = 0;  // of SelectedRows: at most so many touched rows
  Lod lod = {};           // before a run: where the sequences begin and end

  std::string str() const { return shape.str() + " " + name_of(dtype); }  // "[8, 4] float32"
  bool operator==(const VarInfo& o) const {
    return kind == o.kind && dtype == o.dtype && shape == o.shape && row_count == o.row_count && lod == o.lod;
  }
};

class Frame;

// SelectedRows are the rows of a table that a gradient touches: rows[i] says which row of the table
// `tensor`'s row i belongs to. Rows may repeat and come in any order.
struct Variable {
  VarKind kind = VarKind::Tensor;
  Tensor tensor;              // the value; of SelectedRows, the touched rows
  std::vector<int64_t> rows;  // of SelectedRows
  int64_t height = 0;         // of SelectedRows: rows of the whole table
  std::vector<Tensor> array;  // of TensorArray; an element may have no value yet
  std::vector<std::shared_ptr<Frame>> frames;  // of StepScopes: what each step of a block left, in order

  bool has_value() const { return tensor.data != nullptr || !holds_tensor(kind); }
  VarInfo info() const;
  // Becomes what `info` says, still without memory.
  void describe(const VarInfo& info);
  bool is_rows() const { return kind == VarKind::SelectedRows; }
  // As many rows, and the same ones, as `from` has now; the memory was planned for the most there can be.
  void set_rows(const std::vector<int64_t>& touched);
};

}  // namespace paddle_mini
