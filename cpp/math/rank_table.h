// RankTable: the sequences of a level, sorted by decreasing length, to find those that have a given step.
#pragma once

#include <cstring>

#include "core/control.h"
#include "core/outside_values.h"
#include "math/lod_levels.h"

namespace paddle_mini {

// Stored in a variable of kind LodRankTable: an int64 tensor [n, 2] of (index, length), whose lod has the levels above
// the ranked one.
struct RankTable {
  int64_t count;
  const int64_t* items;
  const Lod* above;

  RankTable(ControlRun& run, const char* port) {
    const Variable& variable = run.input(port);
    require<OpError>(variable.kind == VarKind::LodRankTable && variable.tensor.data, port, " is ",
                     name_of(variable.kind), ", it must be a rank table");
    count = variable.tensor.shape[0];
    items = variable.tensor.as<int64_t>();
    above = &variable.tensor.lod;
  }

  int64_t index(int64_t i) const { return items[2 * i]; }
  int64_t length(int64_t i) const { return items[2 * i + 1]; }
  int64_t longest() const { return count ? length(0) : 0; }
  size_t level() const { return above->size(); }
  // Number of sequences that have a step `step`; they are the first ones.
  int64_t active(int64_t step) const {
    int64_t n = 0;
    while (n < count && length(n) > step) ++n;
    return n;
  }
};

// Appends rows of other tensors to a tensor.
class RowWriter {
 public:
  explicit RowWriter(Tensor& to) : to_(static_cast<char*>(to.data)) {}
  void copy(const Tensor& from, RowRange rows) {
    size_t width = static_cast<size_t>(from.shape.numel(1, from.shape.rank())) * size_of(from.dtype);
    size_t bytes = static_cast<size_t>(rows.end - rows.begin) * width;
    if (bytes == 0) return;
    std::memcpy(to_, static_cast<const char*>(from.data) + static_cast<size_t>(rows.begin) * width, bytes);
    to_ += bytes;
  }

 private:
  char* to_;
};

// The tensor at a port, whose sequences, if it has any, are checked. Throws if it has no rows.
inline const Tensor& tensor_with_rows(ControlRun& run, const char* port) {
  const Variable& variable = run.input(port);
  require<ShapeError>(variable.kind == VarKind::Tensor && variable.tensor.shape.rank() > 0, port, " is ",
                      name_of(variable.kind), " ", variable.info().str(),
                      ", it must be a tensor with at least one dimension");
  check_lod(variable.tensor.lod, variable.tensor.shape, run.op.input(port)[0]);
  return variable.tensor;
}

}  // namespace paddle_mini
