// layer_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias over the last axes
#include <cmath>

#include "core/op_table.h"
#include "core/parallel.h"
#include "ops/family/mixed_precision.h"

namespace paddle_mini {
namespace {

// Views X as [rows, size]; each row is normalized.
struct LayerNormRows {
  int64_t rows, size;

  LayerNormRows(const Shape& x, int32_t begin) : rows(x.numel(0, begin)), size(x.numel(begin, x.rank())) {}
  double count() const { return static_cast<double>(std::max<int64_t>(size, 1)); }
};

template <class T>
T one_by_row_deviation(T variance, float epsilon) {
  return T(1) / std::sqrt(variance + static_cast<T>(epsilon));
}

template <class T>
struct LayerNormKernel : Kernel {
  In<T> x, scale, bias;
  Out<T> y, mean, variance;
  LayerNormRows r;
  float epsilon;

  explicit LayerNormKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), bias(init, "Bias", optional_port), y(init, "Y"),
        mean(init, "Mean"), variance(init, "Variance"), r(x.shape(), init.attr<int32_t>("begin_norm_axis")),
        epsilon(init.attr<float>("epsilon")) {}

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void run_row(KernelContext& context, int64_t row);
  void normalize(KernelContext& context, const T* from, T m, T s, T* to);
};

// With n elements in a row, xhat = (X - mean) s, s = 1 / deviation, G = Y@GRAD Scale (Ba et al. 2016):
//   Bias@GRAD = sum of Y@GRAD and Scale@GRAD = sum of Y@GRAD xhat over the rows,
//   X@GRAD = s (G - sum(G) / n - xhat sum(G xhat) / n)
template <class T>
struct LayerNormGradKernel : Kernel {
  In<T> x, scale, mean, variance, y_gradient;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  LayerNormRows r;
  float epsilon;
  LaneScratch<T> scaled;  // G of one row

  explicit LayerNormGradKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), mean(init, "Mean"), variance(init, "Variance"),
        y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "Scale@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        r(x.shape(), init.attr<int32_t>("begin_norm_axis")), epsilon(init.attr<float>("epsilon")),
        scaled(init, scale && !kOnGpu ? r.size : 0) {}

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void to_parameters(KernelContext& context);
  void to_x(KernelContext& context, int64_t row, T* scaled_gradient);
};

LayerNormRows layer_norm_rows_of(const InferContext& c) {
  const Shape& x = c.shape("X");
  int32_t begin = c.attr<int32_t>("begin_norm_axis");
  require<ShapeError>(begin < x.rank(), "X has shape ", x.str(), ", it has no axis ", begin,
                      ", which begin_norm_axis names");
  LayerNormRows r(x, begin);
  for (const char* port : {"Scale", "Bias"}) {
    if (!c.has_input(port)) continue;
    require<ShapeError>(shapes_agree(c.shape(port), Shape{r.size}), port, " has shape ", c.shape(port).str(),
                        ", rows of X ", x.str(), " have ", r.size, " elements");
  }
  return r;
}

// Returns the sizes of the axes that count rows: the shape of Mean and Variance.
Shape shape_of_rows(const InferContext& c) {
  const Shape& x = c.shape("X");
  return Shape(std::vector<int64_t>(x.begin(), x.begin() + c.attr<int32_t>("begin_norm_axis")));
}

void infer_layer_norm(InferContext& c) {
  require_tensors(c);
  layer_norm_rows_of(c);
  DType dtype = require_wide_dtype(c, {"Scale", "Bias"});
  c.set_output("Y", c.input("X"));
  for (const char* port : {"Mean", "Variance"}) c.set_output(port, dtype, shape_of_rows(c));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(layer_norm)

namespace paddle_mini {

void define_layer_norm(OpTable& ops) {
  ops.add(OpSchema("layer_norm")
              .doc("Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias for every row; the axes from "
                   "begin_norm_axis on form a row. Variance is the sum of squared differences divided by the number of "
                   "elements, without epsilon.")
              .input("X", "at least 2 dimensions; of 16 bits, Scale and Bias may be float32")
              .optional_input("Scale", "[elements of a row]; 1 if omitted")
              .optional_input("Bias", "[elements of a row]; 0 if omitted")
              .output("Y", "shape of X")
              .output("Mean", "the axes of X before begin_norm_axis")
              .output("Variance", "shape of Mean")
              .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
              .attr("begin_norm_axis", 1, "the first of the axes that form a row", at_least(1))
              .infer(infer_layer_norm)
              .gradient("layer_norm_grad", {"X", "Scale", "Bias", "Mean", "Variance", "Y@GRAD"},
                        {"X@GRAD", "Scale@GRAD", "Bias@GRAD"})
              .in_place("X", "Y")
              .on_gpu()
              .kernels<LayerNormKernel, float, double>());
  ops.add(
      ops.gradient_of("layer_norm")
          .doc("Bias@GRAD = sum of Y@GRAD and Scale@GRAD = sum of Y@GRAD xhat over the rows; X@GRAD = (G - the row's "
               "mean of G - xhat times its mean of G xhat) / deviation with G = Y@GRAD Scale, xhat = (X - Mean) / "
               "deviation.")
          .optional_input("Bias", "as in layer_norm; its values are not read")
          .in_place("Y@GRAD", "X@GRAD")
          .kernels<LayerNormGradKernel, float, double>());
}

}  // namespace paddle_mini
