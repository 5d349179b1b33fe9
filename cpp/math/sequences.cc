// Checks of lods for operators on sequences.
#include "math/sequences.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// Throws unless the offsets of every level start at 0 and do not decrease, and those of the last level end at the
// number of rows.
void check_levels(const VarInfo& info, const char* port) {
  for (size_t i = 0; i < info.lod.size(); ++i) {
    const Offsets& level = info.lod[i];
    int64_t end = i + 1 < info.lod.size() ? static_cast<int64_t>(info.lod[i + 1].size()) - 1 : info.shape[0];
    bool fits = !level.empty() && level.front() == 0 && std::is_sorted(level.begin(), level.end()) &&
                (level.back() == end || end < 0);
    require<ShapeError>(fits, "level ", i, " of the lod of ", port, " must increase from 0 to ", end);
  }
}

}  // namespace

const Offsets* sequences(const InferContext& c, const char* port, size_t i) {
  const VarInfo& info = c.input(port, i);
  require<ShapeError>(info.shape.rank() > 0, port, " has no dimensions, so it can't hold sequences of rows");
  if (!info.lod.empty()) {
    check_levels(info, port);
    return &info.lod.back();
  }
  require<ShapeError>(info.lod_level > 0 || !info.shape.known(), port, " has no sequences (lod)");
  return nullptr;
}

const Offsets* plain_sequences(const InferContext& c, const char* port, size_t i) {
  const Offsets* offsets = sequences(c, port, i);
  int levels = c.input(port, i).lod_level;
  require<ShapeError>(levels <= 1, port, " has ", levels, " levels of sequences, it must have one");
  return offsets;
}

Shape with_rows(Shape shape, int64_t rows) {
  shape[0] = rows;
  return shape;
}

void set_plain(InferContext& c, const char* port, DType dtype, const Shape& shape) {
  if (shape.known()) shape.numel();  // throws if it is too large
  c.set_output(port, dtype, shape);
}

void set_sequences(InferContext& c, const char* port, DType dtype, const Shape& shape, const Offsets* offsets) {
  if (shape.known()) shape.numel();
  VarInfo info{VarKind::Tensor, dtype, shape, 1};
  if (offsets) info.lod = {*offsets};
  c.set_output(port, info);
}

void require_gradient_of(const InferContext& c, const char* gradient, const char* like, const Shape& out) {
  require_same_dtype(c, gradient, like);
  require<ShapeError>(shapes_agree(c.shape(gradient), out), gradient, " has shape ", c.shape(gradient).str(),
                      ", it must be ", out.str());
}

const Offsets& offsets_of(const Variable* variable) {
  require<ShapeError>(variable && !variable->tensor.lod.empty(), "a tensor has no sequences (lod)");
  return variable->tensor.lod.back();
}

}  // namespace paddle_mini
