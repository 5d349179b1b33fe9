// batch_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, channel by channel
#include "core/op_table.h"
#include "math/map.h"

#include <cmath>

namespace paddle_mini {
namespace {

int channel_axis(const Shape& x, const std::string& layout) { return layout == "NCHW" ? 1 : x.rank() - 1; }

// X as [outer, channels, inner]: inner is 1 where channels come last.
struct Channels {
  int64_t outer, channels, inner;

  Channels(const Shape& x, const std::string& layout) {
    int at = channel_axis(x, layout);
    outer = x.numel(0, at), channels = x[at], inner = x.numel(at + 1, x.rank());
  }
  int64_t each() const { return outer * inner; }  // elements of one channel

  // totals[c] = sum of f(a, b, shift[c]) over the elements of channel c.
  template <class T, class F>
  void sums(Device& device, F f, const T* a, const T* b, const T* shift, double* totals) const {
    std::fill_n(totals, channels, 0.0);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t c = 0; c < channels; ++c, a += inner, b += inner) {
        T s = shift[c];
        if (inner == 1) totals[c] += static_cast<double>(f(*a, *b, s));
        else totals[c] += map_sum(device, inner, [f, s](auto x, auto y) { return f(x, y, decltype(x)(s)); }, a, b);
      }
    }
  }

  // to = f(a, b, p[c]...)
  template <class T, class F, class... PerChannel>
  void each_element(Device& device, F f, T* to, const T* a, const T* b, const PerChannel*... p) const {
    for (int64_t o = 0; o < outer; ++o) {
      if (inner == 1) {
        map(device, channels, f, to, a, b, p...);
        a += channels, b += channels, to += channels;
        continue;
      }
      for (int64_t c = 0; c < channels; ++c, a += inner, b += inner, to += inner) {
        auto row = [f](auto... constants) {
          return [f, constants...](auto x, auto y) { return f(x, y, decltype(x)(constants)...); };
        };
        map(device, inner, row(p[c]...), to, a, b);
      }
    }
  }
};

// Whether the statistics that are kept are used, and not those of this batch.
bool uses_kept_statistics(const KernelInit& init) {
  return init.attr<bool>("use_global_stats") ||
         (init.attr<bool>("is_test") && !init.attr<bool>("trainable_statistics"));
}

template <class T>
T one_by_deviation(T variance, float epsilon) { return T(1) / std::sqrt(variance + static_cast<T>(epsilon)); }

template <class T>
struct BatchNormKernel : Kernel {
  In<T> x, scale, bias, mean, variance;
  Out<T> y, mean_out, variance_out, saved_mean, saved_variance;
  Channels layout;
  float momentum, epsilon;
  bool kept;
  Scratch<T> factor, offset;
  Scratch<double> totals;

  explicit BatchNormKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), bias(init, "Bias", optional_port), mean(init, "Mean"),
        variance(init, "Variance"), y(init, "Y"), mean_out(init, "MeanOut"), variance_out(init, "VarianceOut"),
        saved_mean(init, "SavedMean"), saved_variance(init, "SavedVariance"),
        layout(x.shape(), init.attr<std::string>("data_layout")), momentum(init.attr<float>("momentum")),
        epsilon(init.attr<float>("epsilon")), kept(uses_kept_statistics(init)), factor(init, layout.channels),
        offset(init, layout.channels), totals(init, layout.channels) {}

  void run(Device& device) override {
    int64_t n = layout.channels;
    if (!kept && layout.each() == 1) {  // one element has no deviation: PaddlePaddle passes it on, uncounted
      keep_statistics();
      std::fill_n(saved_mean.data(), n, T(0));
      std::fill_n(saved_variance.data(), n, T(0));
      if (x.data() != y.data()) std::copy_n(x.data(), n, y.data());
      return;
    }
    if (kept || layout.each() == 0) keep_statistics();
    else batch_statistics(device);
    for (int64_t c = 0; c < n; ++c) {
      factor[c] = saved_variance[c] * (scale ? scale[c] : T(1));
      offset[c] = bias ? bias[c] : T(0);
    }
    const T *center = saved_mean.data(), *k = factor.data(), *l = offset.data();
    auto normalize = [](auto v, auto, auto m, auto p, auto q) { return (v - m) * p + q; };
    layout.each_element(device, normalize, y.data(), x.data(), x.data(), center, k, l);
  }

  void keep_statistics() {
    int64_t n = layout.channels;
    for (int64_t c = 0; c < n; ++c) {
      saved_mean[c] = mean[c];
      saved_variance[c] = one_by_deviation(variance[c], epsilon);
    }
    if (mean.data() != mean_out.data()) std::copy_n(mean.data(), n, mean_out.data());
    if (variance.data() != variance_out.data()) std::copy_n(variance.data(), n, variance_out.data());
  }

  // Two passes, so that a large mean does not eat the variance. The variance is that of the batch,
  // divided by the count and not by the count less one.
  void batch_statistics(Device& device) {
    double count = static_cast<double>(layout.each());
    T part = static_cast<T>(momentum), rest = T(1) - part;
    std::fill_n(offset.data(), layout.channels, T(0));
    const T* no_shift = offset.data();
    layout.sums(device, [](auto a, auto, auto) { return a; }, x.data(), x.data(), no_shift, totals.data());
    for (int64_t c = 0; c < layout.channels; ++c) saved_mean[c] = static_cast<T>(totals[c] / count);
    auto squares = [](auto a, auto, auto m) { return (a - m) * (a - m); };
    layout.sums(device, squares, x.data(), x.data(), static_cast<const T*>(saved_mean.data()), totals.data());
    for (int64_t c = 0; c < layout.channels; ++c) {
      T batch_variance = static_cast<T>(totals[c] / count);
      mean_out[c] = mean[c] * part + saved_mean[c] * rest;
      variance_out[c] = variance[c] * part + batch_variance * rest;
      saved_variance[c] = one_by_deviation(batch_variance, epsilon);
    }
  }
};

// With n elements a channel, xhat = (X - mean) * s, s = 1 / deviation (Ioffe & Szegedy 2015):
//   Bias@GRAD = sum dY, Scale@GRAD = sum dY xhat, X@GRAD = Scale s (dY - Bias@GRAD / n - xhat Scale@GRAD / n)
// Statistics that are kept do not depend on X, so the two subtracted terms fall away.
template <class T>
struct BatchNormGradKernel : Kernel {
  In<T> x, scale, y_gradient, mean, deviation, kept_mean, kept_variance;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  Channels layout;
  float epsilon;
  bool kept;
  Scratch<T> center, s, p, q, r;
  Scratch<double> to_bias, to_scale;

  explicit BatchNormGradKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), y_gradient(init, "Y@GRAD"), mean(init, "SavedMean"),
        deviation(init, "SavedVariance"), kept_mean(init, "MeanOut", optional_port),
        kept_variance(init, "VarianceOut", optional_port), x_gradient(init, "X@GRAD", optional_port),
        scale_gradient(init, "Scale@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        layout(x.shape(), init.attr<std::string>("data_layout")), epsilon(init.attr<float>("epsilon")),
        kept(uses_kept_statistics(init)), center(init, layout.channels), s(init, layout.channels),
        p(init, layout.channels), q(init, layout.channels), r(init, layout.channels), to_bias(init, layout.channels),
        to_scale(init, layout.channels) {}

  void run(Device& device) override {
    int64_t n = layout.channels;
    bool passes = !kept && layout.each() == 1;  // as in the forward kernel
    for (int64_t c = 0; c < n; ++c) {
      center[c] = kept ? kept_mean[c] : mean[c];
      s[c] = kept ? one_by_deviation(kept_variance[c], epsilon) : deviation[c];
    }
    const T *dy = y_gradient.data(), *centers = center.data();
    layout.sums(device, [](auto g, auto, auto) { return g; }, dy, dy, centers, to_bias.data());
    layout.sums(device, [](auto g, auto v, auto m) { return g * (v - m); }, dy, x.data(), centers, to_scale.data());
    for (int64_t c = 0; c < n; ++c) {
      to_scale[c] *= static_cast<double>(s[c]);
      if (bias_gradient) bias_gradient[c] = passes ? T(0) : static_cast<T>(to_bias[c]);
      if (scale_gradient) scale_gradient[c] = passes ? T(0) : static_cast<T>(to_scale[c]);
    }
    if (!x_gradient) return;
    if (passes) {
      if (dy != x_gradient.data()) std::copy_n(dy, n, x_gradient.data());
      return;
    }
    // X@GRAD = dY p - (X - mean) q - r
    double count = kept || layout.each() == 0 ? HUGE_VAL : static_cast<double>(layout.each());
    for (int64_t c = 0; c < n; ++c) {
      p[c] = (scale ? scale[c] : T(1)) * s[c];
      q[c] = static_cast<T>(static_cast<double>(p[c]) * static_cast<double>(s[c]) * to_scale[c] / count);
      r[c] = static_cast<T>(static_cast<double>(p[c]) * to_bias[c] / count);
    }
    const T *k = p.data(), *l = q.data(), *rest = r.data();
    auto combine = [](auto g, auto v, auto m, auto a, auto b, auto d) { return g * a - (v - m) * b - d; };
    layout.each_element(device, combine, x_gradient.data(), dy, x.data(), centers, k, l, rest);
  }
};

// Every port named, where it is given, is [channels] of X's dtype.
void require_channel_ports(const InferContext& c, std::initializer_list<const char*> ports) {
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2 && x.rank() <= 5, "X has shape ", x.str(), ", it must have 2 to 5 dimensions");
  int64_t channels = x[channel_axis(x, c.attr<std::string>("data_layout"))];
  for (const char* port : ports) {
    if (!c.has_input(port)) continue;
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), Shape{channels}), port, " has shape ", c.shape(port).str(), ", X ",
                        x.str(), " has ", channels, " channels");
  }
}

void infer_batch_norm(InferContext& c) {
  require_channel_ports(c, {"Scale", "Bias", "Mean", "Variance"});
  const Shape& x = c.shape("X");
  DType dtype = c.input("X").dtype;
  Shape channels{x[channel_axis(x, c.attr<std::string>("data_layout"))]};
  c.set_output("Y", c.input("X"));
  for (const char* port : {"MeanOut", "VarianceOut", "SavedMean", "SavedVariance"}) c.set_output(port, dtype, channels);
  c.set_output("ReserveSpace", dtype, Shape{0});
}

void infer_batch_norm_grad(InferContext& c) {
  require_channel_ports(c, {"Scale", "Bias", "SavedMean", "SavedVariance", "MeanOut", "VarianceOut"});
  require_same_dtype(c, "X", "Y@GRAD");
  require_same_shape(c, "X", "Y@GRAD");
  bool kept = c.attr<bool>("use_global_stats") || (c.attr<bool>("is_test") && !c.attr<bool>("trainable_statistics"));
  require<ProgramError>(!kept || (c.has_input("MeanOut") && c.has_input("VarianceOut")),
                        "inputs MeanOut and VarianceOut are needed where the statistics that are kept are used");
  gradients_like_inputs(c);
}

OpSpec& with_attributes(OpSpec& spec) {
  return spec.attr("momentum", 0.9f, "part of the kept statistics that stays", between(0, 1))
      .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
      .attr("is_test", false, "whether the kept statistics are used, and left as they are")
      .attr("use_global_stats", false, "the same in training")
      .attr("trainable_statistics", false, "the statistics of the batch are used even in testing")
      .attr("data_layout", "NCHW", "whether channels are axis 1 or the last", one_of({"NCHW", "NHWC"}));
}

}  // namespace

void define_batch_norm(OpTable& ops) {
  OpSpec forward("batch_norm"), backward("batch_norm_grad");
  forward.doc("Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias for every channel, with mean and variance of "
              "the batch; and MeanOut = momentum Mean + (1 - momentum) mean, VarianceOut likewise. The variance is "
              "divided by the count of elements. In testing, mean and variance are Mean and Variance. A channel of one "
              "element passes through in training.")
      .input("X", "2 to 5 dimensions, channels on axis 1 (NCHW) or the last (NHWC)")
      .optional_input("Scale", "[channels]; 1 when left out")
      .optional_input("Bias", "[channels]; 0 when left out")
      .input("Mean", "[channels]: kept over the batches")
      .input("Variance", "[channels]: kept over the batches")
      .output("Y", "shape of X")
      .output("MeanOut", "the variable of Mean")
      .output("VarianceOut", "the variable of Variance")
      .output("SavedMean", "[channels]: the mean that was used")
      .output("SavedVariance", "[channels]: 1 / sqrt(variance + epsilon) that was used")
      .optional_output("ReserveSpace", "of other devices; empty");
  with_attributes(forward)
      .infer(infer_batch_norm)
      .gradient("batch_norm_grad",
                {"X", "Scale", "Bias", "SavedMean", "SavedVariance", "MeanOut", "VarianceOut", "Y@GRAD"},
                {"X@GRAD", "Scale@GRAD", "Bias@GRAD"})
      .updates("Mean", "MeanOut")
      .updates("Variance", "VarianceOut")
      .kernels<BatchNormKernel, float, double>();
  backward.doc("Bias@GRAD = sum Y@GRAD and Scale@GRAD = sum Y@GRAD xhat over each channel, X@GRAD = Scale / deviation "
               "* (Y@GRAD - the means of Y@GRAD and of xhat Y@GRAD xhat), with xhat = (X - mean) / deviation; without "
               "the means where the kept statistics were used.")
      .input("X", "as in batch_norm")
      .optional_input("Scale", "as in batch_norm")
      .optional_input("Bias", "as in batch_norm; its values are not read")
      .input("SavedMean", "of batch_norm")
      .input("SavedVariance", "of batch_norm")
      .optional_input("MeanOut", "of batch_norm; read where the kept statistics were used")
      .optional_input("VarianceOut", "of batch_norm; read where the kept statistics were used")
      .optional_input("Mean", "PaddlePaddle gives MeanOut here again where the kept statistics were used; not read")
      .optional_input("Variance", "as Mean, of VarianceOut; not read")
      .optional_input("ReserveSpace", "of other devices; not read")
      .input("Y@GRAD", "shape of Y")
      .optional_output("X@GRAD", "shape of X")
      .optional_output("Scale@GRAD", "shape of Scale")
      .optional_output("Bias@GRAD", "shape of Bias");
  with_attributes(backward)
      .infer(infer_batch_norm_grad)
      .in_place("Y@GRAD", "X@GRAD")
      .kernels<BatchNormGradKernel, float, double>();
  ops.add(forward);
  ops.add(backward);
}

}  // namespace paddle_mini
