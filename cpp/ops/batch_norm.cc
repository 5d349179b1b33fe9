// batch_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, channel by channel
#include <cmath>

#include "core/kept_statistics.h"
#include "core/op_table.h"
#include "math/batch_channels.h"

#ifdef PM_GPU
#include "math/batch_norm_gpu.h"
#endif

namespace paddle_mini {
namespace {

// Whether the statistics that are kept are used, and not those of this batch.
template <class Context>
bool kept_statistics_used(const Context& c) {
  return uses_kept_statistics([&](const char* attr) { return c.template attr<bool>(attr); });
}

template <class T>
T one_by_batch_deviation(T variance, float epsilon) {
  return T(1) / std::sqrt(variance + static_cast<T>(epsilon));
}

template <class T>
struct BatchNormKernel : Kernel {
  In<T> x, scale, bias, mean, variance;
  Out<T> y, mean_out, variance_out, saved_mean, saved_variance;
  BatchChannels layout;
  float momentum, epsilon;
  bool kept;
  Scratch<T> factor, offset;
  Scratch<double> totals;

  explicit BatchNormKernel(KernelInit& init)
      : x(init, "X"), scale(init, "Scale", optional_port), bias(init, "Bias", optional_port), mean(init, "Mean"),
        variance(init, "Variance"), y(init, "Y"), mean_out(init, "MeanOut"), variance_out(init, "VarianceOut"),
        saved_mean(init, "SavedMean"), saved_variance(init, "SavedVariance"),
        layout(x.shape(), init.attr<std::string>("data_layout")), momentum(init.attr<float>("momentum")),
        epsilon(init.attr<float>("epsilon")), kept(kept_statistics_used(init)), factor(init, on_host()),
        offset(init, on_host()), totals(init, on_host()) {}

  int64_t on_host() const { return kOnGpu ? 0 : layout.channels; }

#ifdef PM_GPU
  void run(Device& device) override {
    bool passes = !kept && layout.each() == 1, keeps = passes || kept || layout.each() == 0;
    batch_norm_gpu::Statistics<T> statistics{mean.data(),
                                             variance.data(),
                                             saved_mean.data(),
                                             saved_variance.data(),
                                             mean_out.data(),
                                             variance_out.data(),
                                             static_cast<T>(momentum),
                                             static_cast<T>(epsilon),
                                             passes,
                                             static_cast<double>(layout.each())};
    if (keeps) for_each_index(device, layout.channels, batch_norm_gpu::Keep<T>{statistics});
    else batch_norm_gpu::of_batch(device, layout, x.data(), statistics);
    batch_norm_gpu::Normalize<T> normalize{layout.channels,
                                           layout.inner,
                                           passes,
                                           x.data(),
                                           saved_mean.data(),
                                           saved_variance.data(),
                                           scale ? scale.data() : nullptr,
                                           bias ? bias.data() : nullptr,
                                           y.data()};
    for_each_index(device, x.numel(), normalize);
  }
#else
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
      saved_variance[c] = one_by_batch_deviation(variance[c], epsilon);
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
      saved_variance[c] = one_by_batch_deviation(batch_variance, epsilon);
    }
  }
#endif
};

// With n elements a channel, xhat = (X - mean) * s, s = 1 / deviation (Ioffe & Szegedy 2015):
//   Bias@GRAD = sum dY, Scale@GRAD = sum dY xhat, X@GRAD = Scale s (dY - Bias@GRAD / n - xhat Scale@GRAD / n)
// Statistics that are kept do not depend on X, so the two subtracted terms fall away.
template <class T>
struct BatchNormGradKernel : Kernel {
  In<T> x, scale, y_gradient, mean, deviation, kept_mean, kept_variance;
  Out<T> x_gradient, scale_gradient, bias_gradient;
  BatchChannels layout;
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
        kept(kept_statistics_used(init)), center(init, on_host()), s(init, on_host()), p(init, on_host()),
        q(init, on_host()), r(init, on_host()), to_bias(init, layout.channels), to_scale(init, layout.channels) {}

  int64_t on_host() const { return kOnGpu ? 0 : layout.channels; }

#ifdef PM_GPU
  // X@GRAD last: it may lie in the memory of Y@GRAD.
  void run(Device& device) override {
    bool passes = !kept && layout.each() == 1;  // as in the forward kernel
    batch_norm_gpu::Gradient<T> gradient{layout.channels,
                                         layout.inner,
                                         passes,
                                         kept,
                                         x.data(),
                                         y_gradient.data(),
                                         kept ? kept_mean.data() : mean.data(),
                                         kept ? kept_variance.data() : deviation.data(),
                                         scale ? scale.data() : nullptr,
                                         static_cast<T>(epsilon),
                                         to_bias.data(),
                                         to_scale.data(),
                                         kept || layout.each() == 0 ? HUGE_VAL : static_cast<double>(layout.each())};
    batch_norm_gpu::to_parameters(device, layout, gradient, scale_gradient ? scale_gradient.data() : nullptr,
                                  bias_gradient ? bias_gradient.data() : nullptr);
    if (x_gradient) for_each_index(device, x.numel(), batch_norm_gpu::ToX<T>{gradient, x_gradient.data()});
  }
#else
  void run(Device& device) override {
    int64_t n = layout.channels;
    bool passes = !kept && layout.each() == 1;  // as in the forward kernel
    for (int64_t c = 0; c < n; ++c) {
      center[c] = kept ? kept_mean[c] : mean[c];
      s[c] = kept ? one_by_batch_deviation(kept_variance[c], epsilon) : deviation[c];
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
#endif
};

// Every port named, where it is given, is [channels] of X's dtype.
void require_channel_ports(const InferContext& c, std::initializer_list<const char*> ports) {
  const Shape& x = c.shape("X");
  require<ShapeError>(x.rank() >= 2 && x.rank() <= 5, "X has shape ", x.str(), ", it must have 2 to 5 dimensions");
  int64_t channels = x[batch_channel_axis(x, c.attr<std::string>("data_layout"))];
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
  Shape channels{x[batch_channel_axis(x, c.attr<std::string>("data_layout"))]};
  c.set_output("Y", c.input("X"));
  for (const char* port : {"MeanOut", "VarianceOut", "SavedMean", "SavedVariance"}) c.set_output(port, dtype, channels);
  c.set_output("ReserveSpace", dtype, Shape{0});
}

void infer_batch_norm_grad(InferContext& c) {
  require_channel_ports(c, {"Scale", "Bias", "SavedMean", "SavedVariance", "MeanOut", "VarianceOut"});
  require_same_dtype(c, "X", "Y@GRAD");
  require_same_shape(c, "X", "Y@GRAD");
  require<ProgramError>(!kept_statistics_used(c) || (c.has_input("MeanOut") && c.has_input("VarianceOut")),
                        "inputs MeanOut and VarianceOut are needed where the statistics that are kept are used");
  gradients_like_inputs(c);
}

}  // namespace

void define_batch_norm(OpTable& ops) {
  ops.add(
      OpSpec("batch_norm")
          .doc(
              "Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias for every channel, with mean and variance of "
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
          .optional_output("ReserveSpace", "of other devices; empty")
          .attr("momentum", 0.9f, "part of the kept statistics that stays", between(0, 1))
          .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
          .attr("is_test", false, "whether the kept statistics are used, and left as they are")
          .attr("use_global_stats", false, "the same in training")
          .attr("trainable_statistics", false, "the statistics of the batch are used even in testing")
          .attr("data_layout", "NCHW", "whether channels are axis 1 or the last", one_of({"NCHW", "NHWC"}))
          .infer(infer_batch_norm)
          .gradient("batch_norm_grad",
                    {"X", "Scale", "Bias", "SavedMean", "SavedVariance", "MeanOut", "VarianceOut", "Y@GRAD"},
                    {"X@GRAD", "Scale@GRAD", "Bias@GRAD"})
          .updates("Mean", "MeanOut")
          .updates("Variance", "VarianceOut")
          .on_gpu()
          .kernels<BatchNormKernel, float, double>());
  ops.add(
      ops.gradient_of("batch_norm")
          .doc("Bias@GRAD = sum Y@GRAD and Scale@GRAD = sum Y@GRAD xhat over each channel, X@GRAD = Scale / deviation "
               "* (Y@GRAD - the means of Y@GRAD and of xhat Y@GRAD xhat), with xhat = (X - mean) / deviation; without "
               "the means where the kept statistics were used.")
          .optional_input("Bias", "as in batch_norm; its values are not read")
          .optional_input("MeanOut", "of batch_norm; read where the kept statistics were used")
          .optional_input("VarianceOut", "of batch_norm; read where the kept statistics were used")
          .optional_input("Mean", "PaddlePaddle gives MeanOut here again where the kept statistics were used; not read")
          .optional_input("Variance", "as Mean, of VarianceOut; not read")
          .optional_input("ReserveSpace", "of other devices; not read")
          .infer(infer_batch_norm_grad)
          .in_place("Y@GRAD", "X@GRAD")
          .kernels<BatchNormGradKernel, float, double>());
}

}  // namespace paddle_mini
