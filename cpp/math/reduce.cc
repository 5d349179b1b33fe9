// Geometry of reductions over axes.
#include "math/reduce.h"

namespace paddle_mini {

std::vector<bool> reduced_axes(int rank, const std::vector<int32_t>& dim, bool reduce_all) {
  std::vector<bool> reduced(rank, reduce_all || dim.empty());
  for (int32_t axis : dim) {
    if (rank > 0) reduced[normal_axis(axis, rank, "dim")] = true;
    else require<ShapeError>(axis == 0 || axis == -1, "dim is ", axis, ", but the tensor has no dimensions");
  }
  return reduced;
}

Shape reduced_shape(const Shape& x, const std::vector<bool>& reduced, bool keep_dim) {
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) out.push_back(x[i]);
    else if (keep_dim) out.push_back(1);
  }
  return out;
}

Reduction::Reduction(const Shape& x, const std::vector<bool>& reduced) {
  std::vector<Dim> dims;  // fastest first
  int64_t out_step = 1;
  numel_ = x.numel();
  for (int i = x.rank() - 1; i >= 0; --i) {
    if (reduced[i]) reduced_count_ *= x[i];
    if (x[i] == 1) continue;
    if (!dims.empty() && dims.back().reduced == reduced[i]) dims.back().size *= x[i];
    else dims.push_back({x[i], reduced[i], reduced[i] ? 0 : out_step});
    if (!reduced[i]) out_step *= x[i];
  }
  out_numel_ = out_step;
  if (!dims.empty()) {
    inner_ = dims.front();
    outer_.assign(dims.rbegin(), dims.rend() - 1);
  }
}

}  // namespace paddle_mini
