// Elements of a tensor picked along an axis by an Index of as many axes: index_sample, take_along_axis, put_along_axis.
#pragma once

#include <algorithm>

#include "core/op_table.h"

#ifdef PM_GPU
#include "math/gpu/by_target.h"
#include "math/gpu/positions.h"
#include "math/take_last.h"
#endif

namespace paddle_mini {

#ifdef PM_GPU
// The element of X that element i of Index stands for; -1 if there is none such, which is refused.
struct AlongPositions {
  Positions positions;
  int rank, axis;
  int64_t index_dims[Shape::kMaxRank], x_steps[Shape::kMaxRank];

  PM_DEVICE int64_t operator()(int64_t i) const {
    int64_t at = positions(i), left = i, place = at < 0 ? 0 : at * x_steps[axis];
    for (int d = rank - 1; d >= 0; --d) {
      int64_t along = take_last(left, index_dims[d]);
      if (d != axis) place += along * x_steps[d];
    }
    return at < 0 ? -1 : place;
  }
};
#endif

// Element i of Index, and of what is picked, stands for the element of X at the same place but along the axis,
// where it is at Index[i].
struct AlongAxis {
  IndexIn index;
  Shape x;
  int axis;
  int64_t length, picked;  // elements of X and of Index along the axis
  bool negatives_too;  // whether negative positions count from the end

  AlongAxis(const KernelInit& init, const Shape& x, int64_t axis_attr, bool negatives_too)
      : index(init, "Index"), x(x), axis(normal_axis(axis_attr, x.rank(), "axis")), length(x[axis]),
        picked(index.shape()[axis]), negatives_too(negatives_too) {
#ifndef PM_GPU
    outer_ = offsets(0, axis);
    inner_ = offsets(axis + 1, x.rank());
#endif
  }

  void refuse(int64_t value, int64_t at) const {
    fail<OpError>("Index has ", value, " at position ", at, ": there are ", length,
                  " along the axis, so positions run from ", negatives_too ? -length : 0, " to ", length - 1);
  }
#ifdef PM_GPU
  AlongPositions positions(const Device& device) const {
    AlongPositions result{Positions(device, index, length, negatives_too), x.rank(), axis, {}, {}};
    for (int d = 0; d < x.rank(); ++d) {
      result.index_dims[d] = index.shape()[d];
      result.x_steps[d] = x.numel(d + 1, x.rank());
    }
    return result;
  }
#else
  void check() const {
    int64_t low = negatives_too ? -length : 0;
    for (int64_t i = 0, n = index.numel(); i < n; ++i) {
      if (index[i] < low || index[i] >= length) refuse(index[i], i);
    }
  }

  // f(place in Index, place in X)
  template <class F>
  void each(F f) const {
    int64_t i = 0, step = x.numel(axis + 1, x.rank());
    for (int64_t first : outer_) {
      for (int64_t p = 0; p < picked; ++p) {
        for (int64_t last : inner_) {
          int64_t at = index[i] < 0 ? index[i] + length : index[i];
          f(i++, first + at * step + last);
        }
      }
    }
  }

 private:
  // Where in X the places lie that Index has along the axes [begin, end).
  std::vector<int64_t> offsets(int begin, int end) const {
    std::vector<int64_t> result{0};
    for (int d = begin; d < end; ++d) {
      std::vector<int64_t> longer;
      for (int64_t offset : result) {
        for (int64_t i = 0; i < index.shape()[d]; ++i) longer.push_back(offset + i * x.numel(d + 1, x.rank()));
      }
      result = std::move(longer);
    }
    return result;
  }

  std::vector<int64_t> outer_, inner_;
#endif
};

// Index must have x's shape but for the axis, or be smaller: what lies beyond it is not looked at.
inline void check_index_along(const InferContext& c, const Shape& x, int64_t axis) {
  require_index(c, "Index");
  const Shape& index = c.shape("Index");
  int at = normal_axis(axis, x.rank(), "axis");
  bool fits = index.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == at || x[i] < 0 || index[i] <= x[i];
  require<ShapeError>(fits, "Index has shape ", index.str(), ", which is larger than ", x.str(),
                      " not only along axis ", at);
}

// A rule gives the axis from the attributes, and says whether negative positions count from the end.
struct AlongRule {
  const char *x, *x_gradient, *out, *out_gradient;
  bool negatives_too;
  int64_t (*axis)(const OpDesc& op);
};

#ifdef PM_GPU
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
    void run(Device& device) override {
      gather_slabs(device, along.positions(device), 1, out.numel(), x.numel(), sizeof(T), x.data(), out.data());
    }
  };
};

template <const AlongRule& rule>
struct TakeGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out_gradient;
    Out<T> x_gradient;
    AlongAxis along;
    ByTarget by_element;

    explicit For(KernelInit& init)
        : out_gradient(init, rule.out_gradient), x_gradient(init, rule.x_gradient),
          along(init, x_gradient.shape(), rule.axis(init.op()), rule.negatives_too),
          by_element(init, along.index.numel()) {}
    void refuse(const Fault& fault) const override { along.refuse(fault.value, fault.at); }
    void run(Device& device) override {
      by_element.sort(device, along.positions(device));
      by_element.template put<ByTarget::Meet::Sum, T>(device, 1, x_gradient.numel(), 1, nullptr, out_gradient.data(),
                                                      x_gradient.data());
    }
  };
};
#else
template <const AlongRule& rule>
struct TakeKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    AlongAxis along;

    explicit For(KernelInit& init)
        : x(init, rule.x), out(init, rule.out), along(init, x.shape(), rule.axis(init.op()), rule.negatives_too) {}
    void run(Device&) override {
      along.check();
      along.each([this](int64_t i, int64_t at) { out[i] = x[at]; });
    }
  };
};

template <const AlongRule& rule>
struct TakeGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> out_gradient;
    Out<T> x_gradient;
    AlongAxis along;

    explicit For(KernelInit& init)
        : out_gradient(init, rule.out_gradient), x_gradient(init, rule.x_gradient),
          along(init, x_gradient.shape(), rule.axis(init.op()), rule.negatives_too) {}
    void run(Device&) override {
      along.check();
      std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
      along.each([this](int64_t i, int64_t at) { x_gradient[at] += out_gradient[i]; });
    }
  };
};
#endif

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

}  // namespace paddle_mini
