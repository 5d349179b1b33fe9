// Offsets of walks along axes, and the copy by them for every element type.
#include "math/axis_walk.h"

#include "math/fill.h"

namespace paddle_mini {

AxisWalks unchanged_axes(const Shape& x) {
  AxisWalks walks;
  for (int64_t dim : x) {
    AxisWalk walk;
    walk.in = walk.out = dim;
    walks.push_back(walk);
  }
  return walks;
}

Shape shape_of(const AxisWalks& walks) {
  Shape out;
  for (const AxisWalk& walk : walks) out.push_back(walk.out);
  if (out.known()) out.numel();  // refuses one that is too large
  return out;
}

AxisWalks stretching(const Shape& x, const Shape& to, const char* what) {
  require<ShapeError>(x.rank() <= to.rank(), "X has shape ", x.str(), ", ", what, " has shape ", to.str(),
                      ", which has fewer dimensions");
  AxisWalks walks = unchanged_axes(to);
  int missing = to.rank() - x.rank();
  for (int i = 0; i < to.rank(); ++i) {
    walks[i].in = i < missing ? 1 : x[i - missing];
    bool fits = walks[i].in == 1 || dims_agree(walks[i].in, to[i]);
    require<ShapeError>(fits, "X has shape ", x.str(), ", which can't be stretched to ", what, ", ", to.str());
    if (walks[i].in == 1) walks[i].step = 0;
  }
  return walks;
}

AxisLoop::AxisLoop(const AxisWalks& walks) : walks_(walks) {
  for (const AxisWalk& walk : walks) numel_ *= walk.out, in_numel_ *= walk.in;
  if (numel_ == 0) return;
  int axis = static_cast<int>(walks.size()) - 1;
  int64_t in_step = 1;
  for (; axis >= 0 && walks[axis].identity(); --axis) block_ *= walks[axis].out, in_step *= walks[axis].in;
  // The next axis too makes the block longer where it only begins or ends elsewhere.
  if (axis >= 0 && walks[axis].edge == AxisWalk::Edge::Inside && walks[axis].step == 1) {
    inner_ = {walks[axis].start * in_step};
    block_ *= walks[axis].out;
    in_step *= walks[axis--].in;
  }
  bool innermost = block_ == 1 && inner_[0] == 0;
  for (; axis >= 0; --axis) {
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < walks[axis].out; ++i) {
      int64_t at = walks[axis].at(i);
      offsets.push_back(at < 0 ? kOutside : at * in_step);
    }
    if (innermost) inner_ = std::move(offsets), innermost = false;
    else outer_.insert(outer_.begin(), std::move(offsets));
    in_step *= walks[axis].in;
  }
}

AxisCopyKernel::AxisCopyKernel(const Variable* in, Variable* out, const AxisWalks& walks, double constant)
    : in_(*in), out_(*out), loop_(walks), constant_(constant) {}

void AxisCopyKernel::run(Device& device) {
  const void* in = in_.tensor.data;
  void* out = out_.tensor.data;
  auto copy = [&](auto constant) {
    using T = decltype(constant);
    loop_.copy(device, static_cast<const T*>(in), static_cast<T*>(out), constant);
  };
  // Walks that are never outside move bytes; the constant needs the true element type.
  switch (in_.tensor.dtype) {
    case DType::Float32: return copy(static_cast<float>(constant_));
    case DType::Float64: return copy(constant_);
    case DType::Int32: return copy(number_as<int32_t>(constant_));
    case DType::Int64: return copy(number_as<int64_t>(constant_));
    case DType::Int16: return copy(number_as<int16_t>(constant_));
    case DType::Float16:
    case DType::BFloat16: return copy(int16_t{0});
    case DType::UInt8: return copy(number_as<uint8_t>(constant_));
    case DType::Bool: return copy(static_cast<int8_t>(constant_ != 0));
    default: return copy(number_as<int8_t>(constant_));
  }
}

void require_like_out(const InferContext& c, const char* source, const Shape& out) {
  require_tensors(c);
  require_same_dtype(c, source, "Out@GRAD");
  require<ShapeError>(same_shape(out, c.shape("Out@GRAD")), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", Out has ", out.str());
}

}  // namespace paddle_mini
