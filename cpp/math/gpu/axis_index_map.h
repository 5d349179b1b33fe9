// Axis index maps on a GPU: each thread computes the offset of its element of the result, or of the source.
#pragma once

#include "math/gpu/fold.h"
#include "math/for_each_index.h"

namespace paddle_mini {

namespace axis_index_map_gpu {

// The index maps, with adjacent axes merged where the result is the same.
struct Axes {
  static constexpr int kMost = 2 * Shape::kMaxRank;
  int rank = 0;
  AxisIndexMap axes[kMost];

  explicit Axes(const AxisIndexMaps& index_maps) {
    for (const AxisIndexMap& index_map : index_maps) {
      if (rank > 0 && index_map.identity() && joins(axes[rank - 1])) {
        AxisIndexMap& slower = axes[rank - 1];
        slower.in *= index_map.in, slower.out *= index_map.in, slower.start *= index_map.in;
      } else {
        axes[rank++] = index_map;
      }
    }
  }
  static bool joins(const AxisIndexMap& slower) {
    using PadMode = AxisIndexMap::PadMode;
    bool keeps_blocks =
        slower.pad_mode == PadMode::Inside || slower.pad_mode == PadMode::Constant || slower.pad_mode == PadMode::Wrap;
    return slower.step == 1 && keeps_blocks;
  }
};

template <class T>
struct Copy : Axes {
  const T* in;
  T *out, outside;
  bool small;  // indices fit into 32 bits, for faster division

  PM_DEVICE void operator()(int64_t i) const {
    int64_t from = small ? source(static_cast<uint32_t>(i)) : source(static_cast<uint64_t>(i));
    out[i] = from >= 0 ? in[from] : outside;
  }

  template <class Number>
  PM_DEVICE int64_t source(Number left) const {
    int64_t from = 0, step = 1;
    for (int d = rank - 1; d >= 0; --d) {
      Number size = static_cast<Number>(axes[d].out), rest = d > 0 ? left / size : 0;
      int64_t at = axes[d].at(static_cast<int64_t>(d > 0 ? left - rest * size : left));
      if (at < 0) return -1;
      from += at * step;
      left = rest;
      step *= axes[d].in;
    }
    return from;
  }
};

template <class T>
struct PutBack {
  Copy<T> index_map;
  const T* values;  // nullptr: `value` everywhere
  T value;
  T* source;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t from =
        index_map.small ? index_map.source(static_cast<uint32_t>(i)) : index_map.source(static_cast<uint64_t>(i));
    if (from >= 0) source[from] = values ? values[i] : value;
  }
};

template <class T>
struct AddBack : Axes {
  const T* out;
  T* source;

  // The first index >= i along the result's axis whose source is j; -1 if there is none.
  PM_DEVICE static int64_t next(const AxisIndexMap& axis, int64_t i, int64_t j) {
    using PadMode = AxisIndexMap::PadMode;
    bool inner = axis.pad_mode == PadMode::Replicate && j > 0 && j < axis.in - 1;
    if (axis.step != 0 && (axis.pad_mode == PadMode::Inside || axis.pad_mode == PadMode::Constant || inner)) {
      int64_t only = (j - axis.start) / axis.step;
      return only >= i && only < axis.out && axis.at(only) == j ? only : -1;
    }
    if (axis.step == 1 && axis.pad_mode == PadMode::Wrap) {
      int64_t following = i + ((j - axis.start - i) % axis.in + axis.in) % axis.in;
      return following < axis.out ? following : -1;
    }
    if (axis.step == 1 && axis.pad_mode == PadMode::Reflect) {
      int64_t last = axis.in - 1;
      const int64_t mirrored[3] = {-j, j, 2 * last - j};
      for (int64_t place : mirrored) {
        int64_t at = place - axis.start;
        if (at >= i && at < axis.out && axis.at(at) == j) return at;
      }
      return -1;
    }
    while (i < axis.out && axis.at(i) != j) ++i;
    return i < axis.out ? i : -1;
  }

  PM_DEVICE void operator()(int64_t element) const {
    int64_t position[kMost], index[kMost], left = element;
    bool any = true;
    for (int d = rank - 1; d >= 0; --d) {
      position[d] = left % axes[d].in;
      left /= axes[d].in;
      index[d] = next(axes[d], 0, position[d]);
      any = any && index[d] >= 0;
    }
    T total = 0;
    for (int d = 0; any && d >= 0;) {
      int64_t at = 0;
      for (int e = 0; e < rank; ++e) at = at * axes[e].out + index[e];
      total = static_cast<T>(total + out[at]);
      for (d = rank - 1; d >= 0; --d) {
        int64_t following = next(axes[d], index[d] + 1, position[d]);
        index[d] = following >= 0 ? following : next(axes[d], 0, position[d]);
        if (following >= 0) break;
      }
    }
    source[element] = total;
  }
};

template <class T>
struct Get {
  const T* out;
  PM_DEVICE T operator()(const int64_t (&at)[1]) const { return out[at[0]]; }
};

template <class T>
struct Put {
  T* source;
  template <class A>
  PM_DEVICE void operator()(int64_t i, A sum) const {
    source[i] = static_cast<T>(sum);
  }
};

// If every axis is unchanged, broadcast or repeated, each sum is a fold over the result. Returns whether that is so,
// and sets the indices for the fold, `remaining` and `folded`.
inline bool broadcast_or_tiled(const Axes& index_maps, StridedIndex<1>* remaining, StridedIndex<1>* folded) {
  int64_t step = 1;
  for (int d = index_maps.rank - 1; d >= 0; --d) {
    const AxisIndexMap& axis = index_maps.axes[d];
    bool broadcast = axis.in == 1 && axis.step == 0;
    bool repeated =
        axis.pad_mode == AxisIndexMap::PadMode::Wrap && axis.step == 1 && axis.in > 0 && axis.out % axis.in == 0;
    if (!axis.identity() && (axis.start != 0 || !(broadcast || repeated))) return false;
    if (remaining->rank == StridedIndex<1>::kMost || folded->rank == StridedIndex<1>::kMost) return false;
    if (axis.in != 1) remaining->add(axis.in, {step});
    if (axis.out != axis.in) folded->add(axis.out / axis.in, {step * axis.in});
    step *= axis.out;
  }
  return folded->rank > 0;
}

}  // namespace axis_index_map_gpu

template <class T>
void AxisLoop::copy(KernelContext& context, const T* in, T* out, T outside) const {
  bool small = numel_ <= INT32_MAX;
  for_each_index(context, numel_,
                 axis_index_map_gpu::Copy<T>{axis_index_map_gpu::Axes(index_maps_), in, out, outside, small});
}

template <class T>
void AxisLoop::add_back(KernelContext& context, const T* out, T* source) const {
  axis_index_map_gpu::Axes axes(index_maps_);
  StridedIndex<1> remaining, folded;
  if (numel_ > 0 && axis_index_map_gpu::broadcast_or_tiled(axes, &remaining, &folded)) {
    return paddle_mini::fold(context, remaining, folded, SumOf<T>(0), axis_index_map_gpu::Get<T>{out}, Plus{},
                             axis_index_map_gpu::Put<T>{source});
  }
  for_each_index(context, in_numel_, axis_index_map_gpu::AddBack<T>{axes, out, source});
}

template <class T>
void AxisLoop::put(KernelContext& context, const T* out, T* source) const {
  axis_index_map_gpu::Copy<T> index_map{axis_index_map_gpu::Axes(index_maps_), nullptr, nullptr, T(0),
                                        numel_ <= INT32_MAX};
  for_each_index(context, numel_, axis_index_map_gpu::PutBack<T>{index_map, out, T(0), source});
}

template <class T>
void AxisLoop::put_value(KernelContext& context, T value, T* source) const {
  axis_index_map_gpu::Copy<T> index_map{axis_index_map_gpu::Axes(index_maps_), nullptr, nullptr, T(0),
                                        numel_ <= INT32_MAX};
  for_each_index(context, numel_, axis_index_map_gpu::PutBack<T>{index_map, nullptr, value, source});
}

}  // namespace paddle_mini
