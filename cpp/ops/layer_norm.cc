// layer_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias over the last axes
#include <cmath>

#include "core/op_table.h"

#ifdef PM_GPU
#include "math/layer_norm_gpu.h"
#else
#include "math/map.h"
#endif

namespace paddle_mini {
namespace {

// X as [rows, size]: each row is normalized.
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

#ifdef PM_GPU
  void run(Device& device) override {
    layer_norm_gpu::Forward<T> body{{r.rows, r.size, 1},
                                    x.data(),
                                    scale ? scale.data() : nullptr,
                                    bias ? bias.data() : nullptr,
                                    y.data(),
                                    mean.data(),
                                    variance.data(),
                                    r.count(),
                                    static_cast<T>(epsilon)};
    launch(device, body.blocks(), body);
  }
#else
  // Two passes, so that a large mean does not eat the variance.
  void run(Device& device) override {
    for (int64_t i = 0; i < r.rows; ++i) {
      const T* from = x.data() + i * r.size;
      T m = static_cast<T>(map_sum(device, r.size, [](auto v) { return v; }, from) / r.count());
      auto square = [m](auto v) { return (v - decltype(v)(m)) * (v - decltype(v)(m)); };
      mean[i] = m;
      variance[i] = static_cast<T>(map_sum(device, r.size, square, from) / r.count());
      normalize(device, from, m, one_by_row_deviation(variance[i], epsilon), y.data() + i * r.size);
    }
  }

  void normalize(Device& device, const T* from, T m, T s, T* to) {
    auto unit = [m, s](auto v) { return (v - decltype(v)(m)) * decltype(v)(s); };
    const T *k = scale ? scale.data() : nullptr, *b = bias ? bias.data() : nullptr;
    if (k && b) map(device, r.size, [unit](auto v, auto p, auto q) { return unit(v) * p + q; }, to, from, k, b);
    else if (k) map(device, r.size, [unit](auto v, auto p) { return unit(v) * p; }, to, from, k);
    else if (b) map(device, r.size, [unit](auto v, auto q) { return unit(v) + q; }, to, from, b);
    else map(device, r.size, unit, to, from);
  }
#endif
};

// With n elements a row, xhat = (X - mean) s, s = 1 / deviation, G = Y@GRAD Scale (Ba et al. 2016):
//   Bias@GRAD = sum of Y@GRAD and Scale@GRAD = sum of Y@GRAD xhat over the rows,
//   X@GRAD = s (G - sum(G) / n - xhat sum(G xhat) / n)
template <class T>
struct LayerNormGradKernel : Kernel {
  In<T> x, scale, mean, variance, y_gradient;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  LayerNormRows r;
  float epsilon;
  Scratch<T> scaled;  // G of one row

  explicit LayerNormGradKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), mean(init, "Mean"), variance(init, "Variance"),
        y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "Scale@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        r(x.shape(), init.attr<int32_t>("begin_norm_axis")), epsilon(init.attr<float>("epsilon")),
        scaled(init, scale && !kOnGpu ? r.size : 0) {}

#ifdef PM_GPU
  // X@GRAD last: it may lie in the memory of Y@GRAD.
  void run(Device& device) override {
    layer_norm_gpu::Rows<T> rows{x.data(), y_gradient.data(), mean.data(), variance.data(), static_cast<T>(epsilon)};
    layer_norm_gpu::to_parameters(device, rows, r.rows, r.size, scale_gradient ? scale_gradient.data() : nullptr,
                                  bias_gradient ? bias_gradient.data() : nullptr);
    if (!x_gradient) return;
    layer_norm_gpu::ToX<T> body{
        {r.rows, r.size, 1}, rows, scale ? scale.data() : nullptr, x_gradient.data(), r.count()};
    launch(device, body.blocks(), body);
  }
#else
  void run(Device& device) override {
    if (scale_gradient) std::fill_n(scale_gradient.data(), r.size, T(0));
    if (bias_gradient) std::fill_n(bias_gradient.data(), r.size, T(0));
    for (int64_t i = 0; i < r.rows; ++i) {
      const T *from = x.data() + i * r.size, *g = y_gradient.data() + i * r.size;
      T m = mean[i], s = one_by_row_deviation(variance[i], epsilon);
      to_parameters(device, from, g, m, s);
      if (x_gradient) to_x(device, from, g, m, s, x_gradient.data() + i * r.size);
    }
  }

  void to_parameters(Device& device, const T* from, const T* g, T m, T s) {
    if (scale_gradient) {
      auto add = [m, s](auto sum, auto w, auto v) { return sum + w * ((v - decltype(v)(m)) * decltype(v)(s)); };
      const T* sums = scale_gradient.data();
      map(device, r.size, add, scale_gradient.data(), sums, g, from);
    }
    if (bias_gradient) {
      const T* sums = bias_gradient.data();
      map(device, r.size, [](auto sum, auto w) { return sum + w; }, bias_gradient.data(), sums, g);
    }
  }

  void to_x(Device& device, const T* from, const T* g, T m, T s, T* to) {
    if (scale) {
      map(device, r.size, [](auto w, auto k) { return w * k; }, scaled.data(), g, scale.data());
      g = scaled.data();
    }
    auto along = [m, s](auto w, auto v) { return w * ((v - decltype(v)(m)) * decltype(v)(s)); };
    T level = static_cast<T>(map_sum(device, r.size, [](auto w) { return w; }, g) / r.count());
    T slope = static_cast<T>(map_sum(device, r.size, along, g, from) / r.count());
    auto combine = [m, s, level, slope](auto w, auto v) {
      using V = decltype(w);
      return V(s) * (w - V(level) - (v - V(m)) * V(s) * V(slope));
    };
    map(device, r.size, combine, to, g, from);
  }
#endif
};

LayerNormRows layer_norm_rows_of(const InferContext& c) {
  const Shape& x = c.shape("X");
  int32_t begin = c.attr<int32_t>("begin_norm_axis");
  require<ShapeError>(begin < x.rank(), "X has shape ", x.str(), ", there is no axis ", begin,
                      " to begin at (begin_norm_axis)");
  LayerNormRows r(x, begin);
  for (const char* port : {"Scale", "Bias"}) {
    if (!c.has_input(port)) continue;
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), Shape{r.size}), port, " has shape ", c.shape(port).str(),
                        ", rows of X ", x.str(), " have ", r.size, " elements");
  }
  return r;
}

// The axes that count the rows: the shape of Mean and Variance.
Shape shape_of_rows(const InferContext& c) {
  const Shape& x = c.shape("X");
  return Shape(std::vector<int64_t>(x.begin(), x.begin() + c.attr<int32_t>("begin_norm_axis")));
}

void infer_layer_norm(InferContext& c) {
  require_tensors(c);
  layer_norm_rows_of(c);
  c.set_output("Y", c.input("X"));
  for (const char* port : {"Mean", "Variance"}) c.set_output(port, c.input("X").dtype, shape_of_rows(c));
}

}  // namespace

void define_layer_norm(OpTable& ops) {
  ops.add(OpSpec("layer_norm")
              .doc("Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias for every row, which the axes from "
                   "begin_norm_axis on make up. Variance is the variance itself, divided by the count of elements.")
              .input("X", "at least 2 dimensions")
              .optional_input("Scale", "[elements of a row]; 1 when left out")
              .optional_input("Bias", "[elements of a row]; 0 when left out")
              .output("Y", "shape of X")
              .output("Mean", "the axes of X before begin_norm_axis")
              .output("Variance", "shape of Mean")
              .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
              .attr("begin_norm_axis", 1, "the first of the axes that make up a row", at_least(1))
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
