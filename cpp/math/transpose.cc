// Geometry of a transposition: axes that stay adjacent are merged; elements are moved as integers of their size.
#include "math/transpose.h"

#include "math/complex.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace paddle_mini {

std::vector<int> axes_order(const std::vector<int32_t>& axes, int rank) {
  require<ShapeError>(static_cast<int>(axes.size()) == rank, "axis names ", axes.size(), " axes, but the tensor has ",
                      rank, " dimensions");
  std::vector<int> order;
  for (int32_t axis : axes) {
    order.push_back(normal_axis(axis, rank, "axis"));
    bool twice = std::count(order.begin(), order.end(), order.back()) > 1;
    require<ShapeError>(!twice, "axis names the axis ", axis, " twice");
  }
  return order;
}

std::vector<int> inverse_order(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int>(i);
  return inverse;
}

Shape transposed(const Shape& in, const std::vector<int>& order) {
  Shape out;
  for (int axis : order) out.push_back(in[axis]);
  return out;
}

Transpose::Transpose(const Shape& in, const std::vector<int>& order, size_t element_bytes)
    : numel_(in.numel()), element_bytes_(element_bytes) {
  if (numel_ == 0) return;
  int64_t in_steps[Shape::kMaxRank];
  int64_t step = 1;
  for (int i = in.rank() - 1; i >= 0; step *= in[i--]) in_steps[i] = step;
  step = 1;
  for (int i = in.rank() - 1; i >= 0; step *= in[order[i--]]) {
    Dim dim{in[order[i]], in_steps[order[i]], step};
    if (dim.size == 1) continue;
    bool one_index_map = !outer_.empty() && dim.in_step == outer_.back().in_step * outer_.back().size;
    if (one_index_map) outer_.back().size *= dim.size;
    else outer_.push_back(dim);
  }
  if (outer_.empty()) return;
  along_out_ = outer_.front();
  outer_.erase(outer_.begin());
  last_stays_ = along_out_.in_step == 1;
  if (!last_stays_) {
    auto next = std::find_if(outer_.begin(), outer_.end(), [](const Dim& dim) { return dim.in_step == 1; });
    along_in_ = *next;
    outer_.erase(next);
  }
  std::reverse(outer_.begin(), outer_.end());
}

void Transpose::run(KernelContext& context, const void* in, void* out) const {
  if (numel_ == 0) return;
  auto as = [&](auto element) {
    using T = decltype(element);
    run_as(context, static_cast<const T*>(in), static_cast<T*>(out));
  };
  switch (element_bytes_) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    case 8: return as(uint64_t{});
    default: return as(Complex<double>{});
  }
}

}  // namespace paddle_mini
