// arg_max and arg_min: where along an axis the extreme element lies.
#pragma once

#include "core/op_table.h"
#include "math/axis_lines.h"

#ifdef PM_GPU
#include "math/gpu/fold.h"
#endif

namespace paddle_mini {

#ifdef PM_GPU
namespace arg_gpu {

template <class T>
struct At {
  T value;
  int64_t at;  // -1: no element
};

template <class T>
struct Get {
  const T* x;
  PM_DEVICE At<T> operator()(const int64_t (&at)[2]) const { return {x[at[0]], at[1]}; }
};

template <class Better>
struct FirstOf {
  template <class T>
  PM_DEVICE At<T> operator()(At<T> a, At<T> b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
    if (Better{}(a.value, b.value)) return a;
    if (Better{}(b.value, a.value)) return b;
    return a.at < b.at ? a : b;
  }
};

template <class T, class Index>
struct Put {
  Index* out;
  PM_DEVICE void operator()(int64_t o, At<T> best) const { out[o] = static_cast<Index>(best.at); }
};

}  // namespace arg_gpu
#endif

// Better(a, b): whether a goes before b. Of equal elements the first is taken; NaN goes before all numbers.
template <class Better>
struct ArgExtremeKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Variable& out;
    AxisLines lines;

    explicit For(KernelInit& init) : x(init, "X"), out(*init.output("Out")) {
      if (init.attr<bool>("flatten")) lines.length = x.numel();
      else lines = AxisLines(x.shape(), init.attr<int64_t>("axis"));
    }

#ifdef PM_GPU
    void run(Device& device) override {
      if (out.tensor.dtype == DType::Int32) run_to<int32_t>(device);
      else run_to<int64_t>(device);
    }

    template <class Index>
    void run_to(Device& device) {
      Walk<2> kept, folded;  // of X, and of positions along a line
      kept.add(lines.inner, {1, 0});
      kept.add(lines.outer, {lines.length * lines.inner, 0});
      folded.add(lines.length, {lines.inner, 1});
      fold(device, kept, folded, arg_gpu::At<T>{T(0), -1}, arg_gpu::Get<T>{x.data()}, arg_gpu::FirstOf<Better>{},
           arg_gpu::Put<T, Index>{static_cast<Index*>(out.tensor.data)});
    }
#else
    void run(Device&) override {
      int64_t at = 0;
      lines.each([&](int64_t begin) {
        const T* line = x.data() + begin;
        int64_t best = 0;
        for (int64_t j = 1; j < lines.length && line[best * lines.inner] == line[best * lines.inner]; ++j) {
          T a = line[j * lines.inner], b = line[best * lines.inner];
          if (a != a || Better{}(a, b)) best = j;
        }
        if (out.tensor.dtype == DType::Int32) static_cast<int32_t*>(out.tensor.data)[at++] = static_cast<int32_t>(best);
        else static_cast<int64_t*>(out.tensor.data)[at++] = best;
      });
    }
#endif
  };
};

inline void infer_arg_extreme(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  bool keep = c.attr<bool>("keepdims"), flatten = c.attr<bool>("flatten");
  int64_t axis = c.attr<int64_t>("axis");
  if (!flatten) check_axis(x, axis);
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    bool gone = flatten || i == normal_axis(axis, x.rank(), "axis");
    require<ShapeError>(!gone || x[i] != 0, "X has shape ", x.str(), ": there is nothing to choose from");
    if (!gone) out.push_back(x[i]);
    else if (keep) out.push_back(1);
  }
  DType dtype = c.attr<int32_t>("dtype") == -1 ? DType::Int64 : c.dtype_attr("dtype");
  require<ProgramError>(dtype == DType::Int32 || dtype == DType::Int64, "attribute 'dtype' is ", name_of(dtype),
                        ", it must be int32 or int64");
  c.set_output("Out", dtype, out);
}

// A record that lacks what is the operator's own: doc, kernels.
inline OpSpec arg_extreme(const char* type) {
  return OpSpec(type)
      .input("X", "any shape")
      .output("Out", "X's shape without the axis, int32 or int64")
      .required_attr("axis", AttrType::Long, "the axis; negative ones count from the end")
      .attr("keepdims", false, "whether the axis stays, with one element")
      .attr("flatten", false, "whether X is one line, whatever `axis` says")
      .attr("dtype", static_cast<int32_t>(DType::Int64), "element type of Out: int32 or int64; -1: int64")
      .infer(infer_arg_extreme)
      .no_gradient("positions have no slope");
}

}  // namespace paddle_mini
