// Reductions over some axes of a tensor.
#pragma once

#include <vector>

#include "core/op_table.h"
#include "math/cast.h"
#include "math/map.h"

namespace paddle_mini {

// Which axes a reduction runs over: from PaddlePaddle's attributes `dim`, `reduce_all`; no `dim` is all.
std::vector<bool> reduced_axes(int rank, const std::vector<int32_t>& dim, bool reduce_all);
Shape reduced_shape(const Shape& x, const std::vector<bool>& reduced, bool keep_dim);

// The walk of a reduction: neighbouring axes of one sort are one.
class Reduction {
 public:
  Reduction(const Shape& x, const std::vector<bool>& reduced);

  // out = sum of x over the reduced axes, times `scale`.
  template <class T>
  void sum(Device& device, T scale, const T* x, T* out) const;
  // out[i] = scale * y[j] where j is the element that i was reduced to: the gradient of a sum.
  template <class T>
  void spread(Device& device, T scale, const T* y, T* out) const;

  int64_t reduced_count() const { return reduced_count_; }  // elements that become one

 private:
  struct Dim {
    int64_t size;
    bool reduced;
    int64_t out_step;
  };
  template <class F>
  void each_row(F f) const;

  std::vector<Dim> outer_;
  Dim inner_{1, false, 1};
  int64_t numel_ = 1, out_numel_ = 1, reduced_count_ = 1;
};

// Out = sum of X, or mean of X, over the axes that attributes dim, reduce_all name. X of another element
// type than Out is converted first.
enum class Reduce { Sum, Mean };

template <Reduce what>
struct ReduceKernel {
  template <class T>
  struct For : Kernel {
    const Variable& x;
    Out<T> out;
    Reduction walk;
    T scale;
    CastFunction convert;
    Scratch<T> converted;

    explicit For(KernelInit& init)
        : x(*init.input("X")), out(init, "Out"), walk(x.tensor.shape, axes_of(init, x.tensor.shape)),
          scale(what == Reduce::Mean ? static_cast<T>(1) / static_cast<T>(walk.reduced_count()) : static_cast<T>(1)),
          convert(x.tensor.dtype == dtype_of<T>::value ? nullptr : cast_function(x.tensor.dtype, dtype_of<T>::value)),
          converted(init, convert ? x.tensor.shape.numel() : 0) {}

    void run(Device& device) override {
      if (convert) convert(device, converted.numel(), x.tensor.data, converted.data());
      walk.sum(device, scale, convert ? converted.data() : static_cast<const T*>(x.tensor.data), out.data());
    }

    static std::vector<bool> axes_of(const KernelInit& init, const Shape& x) {
      return reduced_axes(x.rank(), init.attr<std::vector<int32_t>>("dim"), init.attr<bool>("reduce_all"));
    }
  };
};

template <Reduce what>
struct ReduceGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    const Variable& out_gradient;
    Out<T> x_gradient;
    Reduction walk;
    T scale;
    CastFunction convert;
    Scratch<T> converted;

    explicit For(KernelInit& init)
        : x(init, "X"), out_gradient(*init.input("Out@GRAD")), x_gradient(init, "X@GRAD"),
          walk(x.shape(), ReduceKernel<what>::template For<T>::axes_of(init, x.shape())),
          scale(what == Reduce::Mean ? static_cast<T>(1) / static_cast<T>(walk.reduced_count()) : static_cast<T>(1)),
          convert(out_gradient.tensor.dtype == dtype_of<T>::value
                      ? nullptr
                      : cast_function(out_gradient.tensor.dtype, dtype_of<T>::value)),
          converted(init, convert ? out_gradient.tensor.shape.numel() : 0) {}

    void run(Device& device) override {
      if (convert) convert(device, converted.numel(), out_gradient.tensor.data, converted.data());
      const T* gradient = convert ? converted.data() : static_cast<const T*>(out_gradient.tensor.data);
      walk.spread(device, scale, gradient, x_gradient.data());
    }
  };
};

// Records that lack what is the operator's own: doc, infer of the forward one, gradient, kernels.
OpSpec reduction(const char* type);           // X -> Out
OpSpec reduction_gradient(const OpTable& ops, const char* forward);  // X, Out@GRAD -> X@GRAD
// Out has X's shape without the reduced axes; its type is `out_dtype`, or `otherwise` if that is -1.
void infer_reduction(InferContext& c, DType otherwise);

}  // namespace paddle_mini
