// Descriptions of variables.
#include "core/variable.h"

namespace paddle_mini {

const char* name_of(VarKind kind) {
  switch (kind) {
    case VarKind::Tensor: return "tensor";
    case VarKind::SelectedRows: return "selected rows";
    case VarKind::FeedList: return "feed list";
    case VarKind::FetchList: return "fetch list";
    case VarKind::StepScopes: return "step scopes";
    case VarKind::LodRankTable: return "rank table";
    case VarKind::TensorArray: return "tensor array";
    case VarKind::Reader: return "reader";
    case VarKind::Raw: return "raw";
  }
  return "unknown kind";
}

VarInfo Variable::info() const {
  VarInfo info{kind, tensor.dtype, tensor.shape, static_cast<int>(tensor.lod.size()), 0, tensor.lod};
  if (is_rows() && info.shape.rank() > 0) {
    info.row_count = info.shape[0];
    info.shape[0] = height;
  }
  return info;
}

void Variable::describe(const VarInfo& info) {
  kind = info.kind;
  tensor.dtype = info.dtype;
  tensor.shape = info.shape;
  tensor.lod = info.lod;
  if (kind != VarKind::SelectedRows) return;
  height = info.shape.rank() ? info.shape[0] : 0;
  if (info.shape.rank()) tensor.shape[0] = info.row_count;
  require<DeviceError>(info.row_count < int64_t{1} << 32, "out of memory: ", info.row_count, " rows");
  rows.reserve(static_cast<size_t>(info.row_count));
}

void Variable::set_rows(const std::vector<int64_t>& touched) {
  if (&rows != &touched) rows = touched;
  tensor.shape[0] = static_cast<int64_t>(rows.size());
}

}  // namespace paddle_mini
