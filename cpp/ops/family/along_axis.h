// Elements of a tensor selected along an axis by an Index of equal rank: index_sample, take_along_axis, put_along_axis.
#pragma once

#include <algorithm>

#include "core/kept_array.h"
#include "core/op_table.h"
#include "math/segmented_scatter.h"

namespace paddle_mini {

// Element i of Index, and of the selection, refers to the element of X with the same coordinates, except along the
// axis, where its coordinate is Index[i].
struct AlongAxis {
  IndexIn index;
  Shape x;
  int axis;
  int64_t length, picked;  // elements of X and of Index along the axis
  bool negatives_too;  // whether negative positions count from the end

  AlongAxis(const KernelInit& init, const Shape& x, int64_t axis_attr, bool negatives_too)
      : index(init, "Index"), x(x), axis(normal_axis(axis_attr, x.rank(), "axis")), length(x[axis]),
        picked(index.shape()[axis]), negatives_too(negatives_too) {
    if (kOnGpu) return;
    outer_ = offsets(0, axis);
    inner_ = offsets(axis + 1, x.rank());
  }

  void refuse(int64_t value, int64_t at) const {
    fail<OpError>("Index has ", value, " at position ", at, ": there are ", length,
                  " along the axis, so a position must be from ", negatives_too ? -length : 0, " to ", length - 1);
  }
  // On a CPU:
  void check() const;
  // Calls f(offset in Index, offset in X) on several threads; if `apart`, no two threads get the same element of X, and
  // each element is met in the order of Index.
  template <class F>
  void each(KernelContext& context, bool apart, F f) const;

 private:
  // Offsets in X of all coordinates of Index along the axes [begin, end).
  KeptArray<int64_t> offsets(int begin, int end) const {
    KeptArray<int64_t> result{0};
    for (int d = begin; d < end; ++d) {
      KeptArray<int64_t> longer;
      longer.reserve(result.size() * static_cast<size_t>(index.shape()[d]));
      for (int64_t offset : result) {
        for (int64_t i = 0; i < index.shape()[d]; ++i) longer.push_back(offset + i * x.numel(d + 1, x.rank()));
      }
      result = std::move(longer);
    }
    return result;
  }

  KeptArray<int64_t> outer_, inner_;  // on a CPU
};

// Throws unless Index has x's rank and, except along the axis, at most x's size.
inline void check_index_along(const InferContext& c, const Shape& x, int64_t axis) {
  require_index(c, "Index");
  const Shape& index = c.shape("Index");
  int at = normal_axis(axis, x.rank(), "axis");
  bool fits = index.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == at || x[i] < 0 || index[i] <= x[i];
  require<ShapeError>(fits, "Index has shape ", index.str(), ", which is larger than ", x.str(),
                      " not only along axis ", at);
}

// One rule per operator: its ports, its axis from the attributes, and whether negative positions count from the end.
struct AlongRule {
  const char *x, *x_gradient, *out, *out_gradient;
  bool negatives_too;
  int64_t (*axis)(const OpDesc& op);
};

template <const AlongRule& rule>
void infer_take(InferContext& c) {
  require_tensors(c);
  check_index_along(c, c.shape(rule.x), rule.axis(c.op()));
  c.set_output(rule.out, c.input(rule.x).dtype, c.shape("Index"));
}

template <const AlongRule& rule>
void infer_take_grad(InferContext& c) {
  require_tensors(c);
  check_index_along(c, c.shape(rule.x), rule.axis(c.op()));
  require_same_dtype(c, rule.x, rule.out_gradient);
  require<ShapeError>(shapes_agree(c.shape("Index"), c.shape(rule.out_gradient)), rule.out_gradient, " has shape ",
                      c.shape(rule.out_gradient).str(), ", Index has ", c.shape("Index").str());
  gradients_like_inputs(c);
}

// Out[i] = the element of X that element i of Index refers to
template <const AlongRule& rule>
struct TakeKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    AlongAxis along;

    explicit For(KernelInit& init)
        : x(init, rule.x), out(init, rule.out), along(init, x.shape(), rule.axis(init.op()), rule.negatives_too) {}
    void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
    void run(KernelContext& context) override;
  };
};

template <const AlongRule& rule>
struct TakeGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out_gradient;
    Out<T> x_gradient;
    AlongAxis along;
    SegmentedScatter by_element;

    explicit For(KernelInit& init)
        : out_gradient(init, rule.out_gradient), x_gradient(init, rule.x_gradient),
          along(init, x_gradient.shape(), rule.axis(init.op()), rule.negatives_too),
          by_element(init, along.index.numel()) {}
    void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
    void run(KernelContext& context) override;
  };
};

}  // namespace paddle_mini

#include PM_FAMILY(along_axis)
