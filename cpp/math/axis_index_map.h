// Tensors whose elements are elements of another one, with an index map for each axis: slices, tiles, pads.
#pragma once

#include <algorithm>
#include <vector>

#include "core/kept_array.h"
#include "core/op_table.h"
#include "core/target.h"

namespace paddle_mini {

// Position i along an axis of the result is position start + i * step along that axis of the source.
struct AxisIndexMap {
  // Treatment of positions outside of the source. Inside: there are none. Constant: a constant. Wrap: the source is
  // periodic. Reflect: the source is mirrored at its outermost element. Replicate: that element is repeated.
  enum class PadMode { Inside, Constant, Wrap, Reflect, Replicate };

  int64_t in = 1, out = 1;  // -1: unknown
  int64_t start = 0, step = 1;
  PadMode pad_mode = PadMode::Inside;

  // Returns -1 for the constant.
  PM_HD int64_t at(int64_t i) const {
    int64_t j = start + i * step;
    switch (pad_mode) {
      case PadMode::Inside: return j;
      case PadMode::Constant: return j < 0 || j >= in ? -1 : j;
      case PadMode::Wrap: return (j % in + in) % in;
      case PadMode::Reflect: j = std::max(j, -j); return std::min(j, 2 * in - j - 2);
      case PadMode::Replicate: return std::min(std::max<int64_t>(j, 0), in - 1);
    }
    return j;
  }
  bool identity() const { return in == out && start == 0 && step == 1; }
};

using AxisIndexMaps = std::vector<AxisIndexMap>;

// Identity maps for all axes; callers then change some of them.
AxisIndexMaps unchanged_axes(const Shape& x);
Shape shape_of(const AxisIndexMaps& index_maps);
// Index maps of a broadcast from x to the shape `to`: axes of size 1 have step 0. Throws if x can't be broadcast.
AxisIndexMaps broadcast_maps(const Shape& x, const Shape& to, const char* what);

// Iterates over a whole result in runs of `block` elements that are contiguous in the source.
class AxisLoop {
 public:
  static constexpr int64_t kOutside = INT64_MIN;

  explicit AxisLoop(const AxisIndexMaps& index_maps);

  // On a CPU: calls f(position in the result, offset in the source or kOutside, begin, end) for the columns [begin, end)
  // of the blocks, on several threads. cost: of one element. If `apart`, no two threads get the same source element, and
  // each source element is met in the order of the result, so f may add to it.
  template <class F>
  void each_block(KernelContext& context, bool apart, double cost, F f) const;

  // out = the elements of the source; `outside` for positions without one.
  template <class T>
  void copy(KernelContext& context, const T* in, T* out, T outside) const;

  // source[j] = the sum of the result's elements that come from j: the gradient of copy.
  template <class T>
  void add_back(KernelContext& context, const T* out, T* source) const;

  // source[j] = out[i], or `value`, for every element i of the result; no two may have the same source element j.
  template <class T>
  void put(KernelContext& context, const T* out, T* source) const;
  template <class T>
  void put_value(KernelContext& context, T value, T* source) const;

 private:
  // On a CPU: the blocks at the positions [first, last) along an axis; the axis after the outer ones is inner_.
  template <class F>
  void each_block_of(int axis, int64_t first, int64_t last, F f) const;
  const KeptArray<int64_t>& offsets(int axis) const {
    return axis < static_cast<int>(outer_.size()) ? outer_[static_cast<size_t>(axis)] : inner_;
  }
  int splitting_axis(bool apart, int64_t enough) const;

  static int64_t sum(int64_t a, int64_t b) { return a == kOutside || b == kOutside ? kOutside : a + b; }

  std::vector<KeptArray<int64_t>> outer_;  // source offsets for each position along an axis
  KeptArray<int64_t> inner_{0};
  std::vector<bool> distinct_;  // whether all source offsets along an axis differ; inner_ is the last axis
  int64_t block_ = 1, numel_ = 1, in_numel_ = 1;
  AxisIndexMaps index_maps_;
};

// Gathers Out from the source by these index maps, for any element type.
class AxisCopyKernel : public Kernel {
 public:
  // `constant` is the value of Out outside of the source.
  AxisCopyKernel(const Variable* in, Variable* out, const AxisIndexMaps& index_maps, double constant = 0);
  void run(KernelContext& context) override;

 private:
  const Variable& in_;
  Variable& out_;
  AxisLoop loop_;
  double constant_;
};

// Computes the source's gradient from Out's.
template <class T>
class AxisCopyGradKernel : public Kernel {
 public:
  AxisCopyGradKernel(const KernelInit& init, const char* out_gradient, const char* gradient,
                     const AxisIndexMaps& index_maps)
      : out_gradient_(init, out_gradient), gradient_(init, gradient), loop_(index_maps) {}
  void run(KernelContext& context) override { loop_.add_back(context, out_gradient_.data(), gradient_.data()); }

 private:
  In<T> out_gradient_;
  Out<T> gradient_;
  AxisLoop loop_;
};

// Throws if Out@GRAD differs from Out in shape or element type.
void require_like_out(const InferContext& c, const char* source, const Shape& out);

}  // namespace paddle_mini

#include PM_LAUNCHERS(axis_index_map)
