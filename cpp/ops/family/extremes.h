// Reductions other than sums over some axes of a tensor: largest, smallest, product, all, any.
#pragma once

#include <limits>

#include "math/axis_folds.h"
#include "ops/family/reduction.h"

namespace paddle_mini {

inline std::vector<bool> fold_axes(const KernelInit& init, const Shape& x) {
  return reduced_axes(x.rank(), init.attr<std::vector<int32_t>>("dim"), init.attr<bool>("reduce_all"));
}

// Out = the fold of X by F, starting from F::first<T>().
template <class F>
struct FoldKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    AxisFolds folds;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out"), folds(x.shape(), fold_axes(init, x.shape())) {}
    void run(KernelContext& context) override {
      folds.fold(context, Itself{}, F{}, F::template first<T>(), out.data(), x.data());
    }
  };
};

// X@GRAD[i] = F(X[i], Out[j], Out@GRAD[j]), where i is reduced to j.
template <class F>
struct FoldGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, out, out_gradient;
    Out<T> x_gradient;
    AxisFolds folds;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
          folds(x.shape(), fold_axes(init, x.shape())) {}
    void run(KernelContext& context) override {
      folds.map(context, F{}, x_gradient.data(), x.data(), out.data(), out_gradient.data());
    }
  };
};

// Every element that equals the extreme receives the full gradient.
struct ToExtreme {
  template <class T>
  PM_HD T operator()(T x, T out, T gradient) const {
    return x == out ? gradient : T(0);
  }
};

// A schema without the operator's own items: doc, kernels. has_none: whether the fold of no elements is defined.
inline OpSchema fold_reduction(const char* type, bool has_none = true) {
  return reduction(type)
      .infer([has_none](InferContext& c) {
        require_tensors(c);
        const Shape& x = c.shape("X");
        std::vector<bool> axes =
            reduced_axes(x.rank(), c.attr<std::vector<int32_t>>("dim"), c.attr<bool>("reduce_all"));
        Shape out = reduced_shape(x, axes, c.attr<bool>("keep_dim"));
        bool empty = x.known() && x.numel() == 0 && out.numel() > 0;
        require<ShapeError>(has_none || !empty, "X has shape ", x.str(),
                            ", which has no elements, so there is no extreme");
        c.set_output("Out", c.input("X").dtype, out);  // regardless of out_dtype, as in PaddlePaddle
      })
      .gradient(std::string(type) + "_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"});
}

// Axes of all and any, which PaddlePaddle stores as 64-bit integers.
inline std::vector<bool> truth_axes(const OpDesc& op, int rank) {
  std::vector<int32_t> dim;
  for (int64_t axis : attr_of<std::vector<int64_t>>(op, "dim")) {
    dim.push_back(static_cast<int32_t>(std::clamp<int64_t>(axis, INT32_MIN, INT32_MAX)));
  }
  return reduced_axes(rank, dim, attr_of<bool>(op, "reduce_all"));
}

struct IsNotZero {
  template <class T>
  PM_HD bool operator()(T x) const {
    return x != T(0);
  }
};

// Out = the fold by F of X != 0.
template <class F>
struct TruthKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<bool> out;
    AxisFolds folds;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), folds(x.shape(), truth_axes(init.op(), x.shape().rank())) {}
    void run(KernelContext& context) override { folds.fold(context, IsNotZero{}, F{}, F::first, out.data(), x.data()); }
  };
};

// A schema without the operator's own items: doc, kernels.
inline OpSchema truth_reduction(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "X's shape without the reduced axes, bool")
      .attr("dim", std::vector<int64_t>{0}, "the axes to reduce; empty: all")
      .attr("keep_dim", false, "whether a reduced axis stays as a dimension of 1")
      .attr("reduce_all", false, "whether all axes are reduced; then `dim` is not used")
      .attr("in_dtype", -1, "not read: the element type is that of X")
      .attr("out_dtype", -1, "not read: Out is bool")
      .infer([](InferContext& c) {
        require_tensors(c);
        const Shape& x = c.shape("X");
        c.set_output("Out", DType::Bool, reduced_shape(x, truth_axes(c.op(), x.rank()), c.attr<bool>("keep_dim")));
      })
      .no_gradient("its output is bool");
}

}  // namespace paddle_mini
