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
  VarInfo info{kind, tensor.dtype, tensor.shape, static_cast<int>(tensor.lod.size())};
  if (is_rows() && info.shape.rank() > 0) {
    info.row_count = info.shape[0];
    info.shape[0] = height;
  }
  return info;
}

void Variable::set_rows(const std::vector<int64_t>& touched) {
  if (&rows != &touched) rows = touched;
  tensor.shape[0] = static_cast<int64_t>(rows.size());
}

}  // namespace paddle_mini
