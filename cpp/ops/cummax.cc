// cummax, cummin: out[j] = the largest or smallest element of x up to j along an axis, and its position
#include "core/op_table.h"
#include "math/for_each_line.h"

namespace paddle_mini {
namespace {

// Whether `one` replaces the extreme so far. The last of equal elements counts; NaN stays.
template <bool largest, class T>
PM_HD bool replaces_extreme(T one, T so_far) {
  if (one != one) return true;
  return so_far == so_far && (largest ? one >= so_far : one <= so_far);
}

template <bool largest, class T, class Index>
struct ExtremesSoFar {
  int64_t length, step;
  const T* x;
  T* out;
  Index* indices;

  PM_HD void operator()(int64_t begin) const {
    int64_t found = 0;
    for (int64_t j = 0; j < length; ++j) {
      int64_t at = begin + j * step;
      if (replaces_extreme<largest>(x[at], x[begin + found * step])) found = j;
      out[at] = x[begin + found * step];
      indices[at] = static_cast<Index>(found);
    }
  }
};

// The positions follow from x, so the gradient need not trust those in `indices`.
template <bool largest, class T>
struct ExtremesSoFarGrad {
  int64_t length, step;
  const T *x, *out_gradient;
  T* x_gradient;

  PM_HD void operator()(int64_t begin) const {
    int64_t found = 0;
    for (int64_t j = 0; j < length; ++j) {
      int64_t at = begin + j * step;
      x_gradient[at] = T(0);
      if (replaces_extreme<largest>(x[at], x[begin + found * step])) found = j;
      x_gradient[begin + found * step] += out_gradient[at];
    }
  }
};

template <bool largest>
struct ExtremesSoFarKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Variable& indices;
    AxisLines lines;

    explicit For(KernelInit& init)
        : x(init, "x"), out(init, "out"), indices(*init.output("indices")),
          lines(x.shape(), init.attr<int32_t>("axis")) {}
    void run(KernelContext& context) override {
      if (indices.tensor.dtype == DType::Int32) run_with(context, static_cast<int32_t*>(indices.tensor.data));
      else run_with(context, static_cast<int64_t*>(indices.tensor.data));
    }
    template <class Index>
    void run_with(KernelContext& context, Index* to) const {
      ExtremesSoFar<largest, T, Index> scan{lines.length, lines.inner, x.data(), out.data(), to};
      for_each_line(context, lines, 2, scan);
    }
  };
};

template <bool largest>
struct ExtremesSoFarGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, out_gradient;
    Out<T> x_gradient;
    AxisLines lines;

    explicit For(KernelInit& init)
        : x(init, "x"), out_gradient(init, "out@GRAD"), x_gradient(init, "x@GRAD"),
          lines(x.shape(), init.attr<int32_t>("axis")) {}
    void run(KernelContext& context) override {
      ExtremesSoFarGrad<largest, T> scan{lines.length, lines.inner, x.data(), out_gradient.data(), x_gradient.data()};
      for_each_line(context, lines, 2, scan);
    }
  };
};

void infer_extremes_so_far(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("x");
  check_axis(x, c.attr<int32_t>("axis"));
  DType dtype = c.dtype_attr("dtype");
  require<ProgramError>(dtype == DType::Int32 || dtype == DType::Int64, "attribute 'dtype' is ", name_of(dtype),
                        ", it must be int32 or int64");
  int64_t length = x.rank() ? x[normal_axis(c.attr<int32_t>("axis"), x.rank(), "axis")] : 1;
  require<ShapeError>(dtype == DType::Int64 || length <= INT32_MAX, "x has shape ", x.str(),
                      ": too many elements along the axis for positions of int32");
  c.set_output("out", c.input("x"));
  c.set_output("indices", dtype, x);
}

template <bool largest>
void define_extremes_so_far(OpTable& ops, const std::string& type, const char* doc, const char* gradient_doc) {
  ops.add(OpSchema(type)
              .doc(doc)
              .input("x", "any shape")
              .output("out", "shape of x")
              .output("indices", "shape of x: the positions along the axis")
              .attr("axis", -1, "the axis; negative ones count from the end")
              .attr("dtype", static_cast<int32_t>(DType::Int64), "element type of indices: int32 or int64")
              .infer(infer_extremes_so_far)
              .gradient(type + "_grad", {"x", "indices", "out@GRAD"}, {"x@GRAD"})
              .on_gpu()
              .kernels<ExtremesSoFarKernel<largest>::template For, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of(type)
              .doc(gradient_doc)
              .shape_only("indices")
              .infer([](InferContext& c) {
                require_tensors(c);
                check_axis(c.shape("x"), c.attr<int32_t>("axis"));
                require_same_shape(c, "x", "out@GRAD");
                require_same_dtype(c, "x", "out@GRAD");
                gradients_like_inputs(c);
              })
              .template kernels<ExtremesSoFarGradKernel<largest>::template For, float, double, int32_t, int64_t>());
}

}  // namespace

void define_cummax(OpTable& ops) {
  define_extremes_so_far<true>(
      ops, "cummax",
      "out[j] = the largest of x[0], ..., x[j] along the axis, and indices[j] = its position: the last one of equal "
      "elements. NaN counts as the largest.",
      "x@GRAD of an element = the sum of out@GRAD over the positions where it is the largest so far.");
  define_extremes_so_far<false>(
      ops, "cummin",
      "out[j] = the smallest of x[0], ..., x[j] along the axis, and indices[j] = its position: the last one of equal "
      "elements. NaN counts as the smallest.",
      "x@GRAD of an element = the sum of out@GRAD over the positions where it is the smallest so far.");
}

}  // namespace paddle_mini
