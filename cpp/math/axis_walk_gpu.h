// Walks along axes on a GPU: every element of the result, or of the source, finds its way by itself.
#pragma once

#include "math/for_each_index.h"

namespace paddle_mini {

namespace axis_walk_gpu {

struct Axes {
  static constexpr int kMost = 2 * Shape::kMaxRank;
  int rank = 0;
  AxisWalk axes[kMost];
  explicit Axes(const AxisWalks& walks) {
    for (const AxisWalk& walk : walks) axes[rank++] = walk;
  }
};

template <class T>
struct Copy : Axes {
  const T* in;
  T *out, outside;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, from = 0, step = 1;
    bool inside = true;
    for (int d = rank - 1; d >= 0; --d) {
      int64_t at = axes[d].at(left % axes[d].out);
      inside = inside && at >= 0;
      from += at * step;
      left /= axes[d].out;
      step *= axes[d].in;
    }
    out[i] = inside ? in[from] : outside;
  }
};

template <class T>
struct AddBack : Axes {
  const T* out;
  T* source;

  // The first position from `i` on along the axis of the result that comes from j; -1 if none does.
  PM_DEVICE static int64_t next(const AxisWalk& axis, int64_t i, int64_t j) {
    if (axis.edge == AxisWalk::Edge::Inside && axis.step != 0) {
      int64_t only = (j - axis.start) / axis.step;
      return only >= i && only < axis.out && axis.at(only) == j ? only : -1;
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

}  // namespace axis_walk_gpu

template <class T>
void AxisLoop::copy(Device& device, const T* in, T* out, T outside) const {
  for_each_index(device, numel_, axis_walk_gpu::Copy<T>{axis_walk_gpu::Axes(walks_), in, out, outside});
}

template <class T>
void AxisLoop::add_back(Device& device, const T* out, T* source) const {
  for_each_index(device, in_numel_, axis_walk_gpu::AddBack<T>{axis_walk_gpu::Axes(walks_), out, source});
}

}  // namespace paddle_mini
