// The operators reduce_sum and reduce_mean: their kernels, and the shared part of the schemas of all reductions.
#pragma once

#include "core/op_table.h"
#include "math/cast.h"
#include "math/reduce.h"

namespace paddle_mini {

// Out = sum of X, or mean of X, over the axes in the attributes dim and reduce_all. X is first converted to Out's
// element type.
enum class Reduce { Sum, Mean };

template <Reduce what>
struct ReduceKernel {
  template <class T>
  struct For : Kernel {
    const Variable& x;
    Out<T> out;
    Reduction index_map;
    T scale;
    CastFunction convert;
    Scratch<T> converted;

    explicit For(KernelInit& init)
        : x(*init.input("X")), out(init, "Out"), index_map(x.tensor.shape, axes_of(init, x.tensor.shape)),
          scale(what == Reduce::Mean ? static_cast<T>(1) / static_cast<T>(index_map.reduced_count())
                                     : static_cast<T>(1)),
          convert(x.tensor.dtype == dtype_of<T>::value ? nullptr : cast_function(x.tensor.dtype, dtype_of<T>::value)),
          converted(init, convert ? x.tensor.shape.numel() : 0) {}

    void run(KernelContext& context) override {
      if (convert) convert(context, converted.numel(), x.tensor.data, converted.data());
      index_map.sum(context, scale, convert ? converted.data() : static_cast<const T*>(x.tensor.data), out.data());
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
    Reduction index_map;
    T scale;
    CastFunction convert;
    Scratch<T> converted;

    explicit For(KernelInit& init)
        : x(init, "X"), out_gradient(*init.input("Out@GRAD")), x_gradient(init, "X@GRAD"),
          index_map(x.shape(), ReduceKernel<what>::template For<T>::axes_of(init, x.shape())),
          scale(what == Reduce::Mean ? static_cast<T>(1) / static_cast<T>(index_map.reduced_count())
                                     : static_cast<T>(1)),
          convert(out_gradient.tensor.dtype == dtype_of<T>::value
                      ? nullptr
                      : cast_function(out_gradient.tensor.dtype, dtype_of<T>::value)),
          converted(init, convert ? out_gradient.tensor.shape.numel() : 0) {}

    void run(KernelContext& context) override {
      if (convert) convert(context, converted.numel(), out_gradient.tensor.data, converted.data());
      const T* gradient = convert ? converted.data() : static_cast<const T*>(out_gradient.tensor.data);
      index_map.spread(context, scale, gradient, x_gradient.data());
    }
  };
};

// Schemas without the operator's own items: doc, forward infer, gradient, kernels.
OpSchema reduction(const char* type);           // X -> Out
OpSchema reduction_gradient(const OpTable& ops, const char* forward);  // X, Out@GRAD -> X@GRAD
// Out has X's shape without the reduced axes; its type is `out_dtype`, or `otherwise` if that is -1.
void infer_reduction(InferContext& c, DType otherwise);

}  // namespace paddle_mini
