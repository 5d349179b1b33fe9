// Checks of values that callers pass from outside of the process' own operators: sequences, and rows of tables.
#pragma once

#include <string>
#include <vector>

#include "core/variable.h"

namespace paddle_mini {

// ShapeError unless the offsets of every level start at 0 and never decrease, and the last level ends at the rows of the
// tensor. `name`: of the tensor; "": one in a file.
void check_lod(const Lod& lod, const Shape& shape, const std::string& name);

// Selected rows with a copy of `values`. ShapeError, or OpError for a row that the table does not have.
Variable selected_rows(const std::string& name, std::vector<int64_t> rows, const Tensor& values, int64_t height);

}  // namespace paddle_mini
