// Implements the checks of sequences and of rows.
#include "core/outside_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/op_desc.h"

namespace paddle_mini {

void check_lod(const Lod& lod, const Shape& shape, const std::string& name) {
  for (size_t i = 0; i < lod.size(); ++i) {
    const auto& level = lod[i];
    int64_t end = i + 1 < lod.size() ? static_cast<int64_t>(lod[i + 1].size()) - 1 : shape.rank() ? shape[0] : 0;
    bool fits =
        !level.empty() && level.front() == 0 && std::is_sorted(level.begin(), level.end()) && level.back() == end;
    if (fits) continue;
    const std::string what = name.empty() ? "a tensor" : "'" + printable(name) + "'";
    fail<ShapeError>(what, ": level ", i, " of lod must rise from 0 to ", end, ", as offsets do, it is ",
                     printable(show(AttrValue(level)), 60));
  }
}

Variable selected_rows(const std::string& name, std::vector<int64_t> rows, const Tensor& values, int64_t height) {
  std::string shown = "'" + printable(name) + "'";
  require<ShapeError>(height >= 0, shown, ": height is ", height, ", it must be the number of rows of the table");
  require<ShapeError>(values.shape.rank() > 0 && values.shape[0] == static_cast<int64_t>(rows.size()), shown, " has ",
                      rows.size(), " rows, but values of shape ", values.shape.str());
  for (int64_t row : rows) require<OpError>(row >= 0 && row < height, shown, " names row ", row, " of ", height);
  Variable variable;
  variable.kind = VarKind::SelectedRows;
  variable.tensor = new_tensor(values.dtype, values.shape);
  if (values.bytes()) std::memcpy(variable.tensor.data, values.data, values.bytes());
  variable.rows = std::move(rows);
  variable.height = height;
  return variable;
}

}  // namespace paddle_mini
