// Computes broadcast shapes and loops, once per plan.
#include "math/broadcast.h"

namespace paddle_mini {
namespace {

// The dimensions of X and Y, padded with 1 to equal rank. The operand of lower rank is aligned with the other from
// `axis` on.
void align(const Shape& x, const Shape& y, int axis, Shape& xs, Shape& ys) {
  if (axis != -1 && x.rank() < y.rank()) return align(y, x, axis, ys, xs);
  if (axis == -1) {
    int rank = std::max(x.rank(), y.rank());
    for (int i = 0; i < rank; ++i) {
      int xi = i - (rank - x.rank()), yi = i - (rank - y.rank());
      xs.push_back(xi < 0 ? 1 : x[xi]);
      ys.push_back(yi < 0 ? 1 : y[yi]);
    }
    return;
  }
  // PaddlePaddle lets the operand of lower rank have trailing dimensions of 1 that exceed the other's rank.
  int y_rank = y.rank();
  while (axis > x.rank() - y_rank && y_rank > 0 && y[y_rank - 1] == 1) --y_rank;
  require<ShapeError>(axis >= 0 && axis <= x.rank() - y_rank, "axis is ", axis, ", but Y ", y.str(),
                      " does not fit into X ", x.str());
  for (int i = 0; i < x.rank(); ++i) {
    xs.push_back(x[i]);
    ys.push_back(i < axis || i >= axis + y_rank ? 1 : y[i - axis]);
  }
}

}  // namespace

Shape broadcast_shape(const Shape& x, const Shape& y, int axis) {
  Shape xs, ys, out;
  align(x, y, axis, xs, ys);
  for (int i = 0; i < xs.rank(); ++i) {
    bool fits = xs[i] == 1 || ys[i] == 1 || dims_agree(xs[i], ys[i]);
    require<ShapeError>(fits, "X ", x.str(), " and Y ", y.str(), " can't be broadcast",
                        axis == -1 ? std::string() : text(" with axis ", axis), ": ", xs[i], " against ", ys[i]);
    out.push_back(xs[i] == 1 ? ys[i] : ys[i] == 1 ? xs[i] : std::max(xs[i], ys[i]));
  }
  return out;
}

void infer_broadcast(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  VarInfo out = c.input("X");
  out.shape = broadcast_shape(c.shape("X"), c.shape("Y"), c.attr<int32_t>("axis"));
  c.set_output("Out", out);
}

Broadcast::Broadcast(const Shape& x, const Shape& y, int axis)
    : same_shape_(x == y), x_numel_(x.numel()), y_numel_(y.numel()) {
  Shape xs, ys, out = broadcast_shape(x, y, axis);
  align(x, y, axis, xs, ys);
  numel_ = out.numel();
  std::vector<Dim> dims;
  int64_t x_step = 1, y_step = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    Dim dim{out[i], xs[i] == 1 ? 0 : x_step, ys[i] == 1 ? 0 : y_step};
    x_step *= xs[i];
    y_step *= ys[i];
    if (dim.size == 1) continue;
    bool one_index_map = !dims.empty() && (dim.x_step != 0) == (dims.back().x_step != 0) &&
                         (dim.y_step != 0) == (dims.back().y_step != 0);
    if (one_index_map) dims.back().size *= dim.size;
    else dims.push_back(dim);
  }
  if (!dims.empty()) {
    inner_ = dims.front();
    outer_.assign(dims.rbegin(), dims.rend() - 1);
  }
}

std::optional<Broadcast::Repeats> Broadcast::repeats_of_y() const {
  std::optional<Repeats> found;
  int64_t inner = 1;
  auto add = [&](const Dim& dim) {
    const bool fits = dim.x_step != 0 && (dim.y_step == 0 || !found);
    if (dim.y_step != 0) found = Repeats{inner, dim.size};
    inner *= dim.size;
    return fits;
  };
  bool fits = add(inner_);
  for (auto dim = outer_.rbegin(); dim != outer_.rend(); ++dim) fits &= add(*dim);
  return fits ? found : std::nullopt;
}

}  // namespace paddle_mini
