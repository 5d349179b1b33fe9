// Source offsets for axis index maps, and the copy that uses them, for all element types.
#include "math/axis_index_map.h"

#include <functional>

#include "math/fill.h"

namespace paddle_mini {

AxisIndexMaps unchanged_axes(const Shape& x) {
  AxisIndexMaps index_maps;
  for (int64_t dim : x) {
    AxisIndexMap index_map;
    index_map.in = index_map.out = dim;
    index_maps.push_back(index_map);
  }
  return index_maps;
}

Shape shape_of(const AxisIndexMaps& index_maps) {
  Shape out;
  for (const AxisIndexMap& index_map : index_maps) out.push_back(index_map.out);
  if (out.known()) out.numel();  // throws if it is too large
  return out;
}

AxisIndexMaps broadcast_maps(const Shape& x, const Shape& to, const char* what) {
  require<ShapeError>(x.rank() <= to.rank(), "X has shape ", x.str(), ", ", what, " has shape ", to.str(),
                      ", which has fewer dimensions");
  AxisIndexMaps index_maps = unchanged_axes(to);
  int missing = to.rank() - x.rank();
  for (int i = 0; i < to.rank(); ++i) {
    index_maps[i].in = i < missing ? 1 : x[i - missing];
    bool fits = index_maps[i].in == 1 || dims_agree(index_maps[i].in, to[i]);
    require<ShapeError>(fits, "X has shape ", x.str(), ", which can't be broadcast to ", what, ", ", to.str());
    if (index_maps[i].in == 1) index_maps[i].step = 0;
  }
  return index_maps;
}

namespace {

// Whether no two positions along an axis have the same source element.
bool all_differ(const KeptArray<int64_t>& offsets) {
  auto is = [&](auto compare) { return std::adjacent_find(offsets.begin(), offsets.end(), compare) == offsets.end(); };
  if (is(std::greater_equal<>()) || is(std::less_equal<>())) return true;  // in order, as most are: needs no copy
  KeptArray<int64_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  auto inside = std::upper_bound(sorted.begin(), sorted.end(), AxisLoop::kOutside);
  return std::adjacent_find(inside, sorted.end()) == sorted.end();
}

}  // namespace

AxisLoop::AxisLoop(const AxisIndexMaps& index_maps) : index_maps_(index_maps) {
  for (const AxisIndexMap& index_map : index_maps) numel_ *= index_map.out, in_numel_ *= index_map.in;
  if (numel_ == 0) return;
  int axis = static_cast<int>(index_maps.size()) - 1;
  int64_t in_step = 1;
  for (; axis >= 0 && index_maps[axis].identity(); --axis)
    block_ *= index_maps[axis].out, in_step *= index_maps[axis].in;
  // The next axis can extend the block too if only its begin or end differs.
  if (axis >= 0 && index_maps[axis].pad_mode == AxisIndexMap::PadMode::Inside && index_maps[axis].step == 1) {
    inner_ = {index_maps[axis].start * in_step};
    block_ *= index_maps[axis].out;
    in_step *= index_maps[axis--].in;
  }
  bool innermost = block_ == 1 && inner_[0] == 0;
  for (; axis >= 0; --axis) {
    KeptArray<int64_t> offsets;
    offsets.reserve(static_cast<size_t>(index_maps[axis].out));
    for (int64_t i = 0; i < index_maps[axis].out; ++i) {
      int64_t at = index_maps[axis].at(i);
      offsets.push_back(at < 0 ? kOutside : at * in_step);
    }
    if (innermost) inner_ = std::move(offsets), innermost = false;
    else outer_.insert(outer_.begin(), std::move(offsets));
    in_step *= index_maps[axis].in;
  }
  for (const KeptArray<int64_t>& offsets : outer_) distinct_.push_back(all_differ(offsets));
  distinct_.push_back(all_differ(inner_));
}

// The slowest axis with enough positions for all threads, or else the longest one.
int AxisLoop::splitting_axis(bool apart, int64_t enough) const {
  int longest = -1;
  for (int axis = 0; axis < static_cast<int>(distinct_.size()); ++axis) {
    if (apart && !distinct_[static_cast<size_t>(axis)]) continue;
    auto size = static_cast<int64_t>(offsets(axis).size());
    if (size >= enough) return axis;
    if (longest < 0 || size > static_cast<int64_t>(offsets(longest).size())) longest = axis;
  }
  return longest;
}

AxisCopyKernel::AxisCopyKernel(const Variable* in, Variable* out, const AxisIndexMaps& index_maps, double constant)
    : in_(*in), out_(*out), loop_(index_maps), constant_(constant) {}

void AxisCopyKernel::run(KernelContext& context) {
  const void* in = in_.tensor.data;
  void* out = out_.tensor.data;
  auto copy = [&](auto constant) {
    using T = decltype(constant);
    loop_.copy(context, static_cast<const T*>(in), static_cast<T*>(out), constant);
  };
  // Maps without positions outside of the source move bytes; the constant needs the real element type.
  switch (in_.tensor.dtype) {
    case DType::Float32: return copy(static_cast<float>(constant_));
    case DType::Float64: return copy(constant_);
    case DType::Int32: return copy(number_as<int32_t>(constant_));
    case DType::Int64: return copy(number_as<int64_t>(constant_));
    case DType::Int16: return copy(number_as<int16_t>(constant_));
    case DType::Float16:
    case DType::BFloat16: return copy(int16_t{0});
    case DType::Complex64: return copy(Complex<float>(static_cast<float>(constant_)));
    case DType::Complex128: return copy(Complex<double>(constant_));
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
