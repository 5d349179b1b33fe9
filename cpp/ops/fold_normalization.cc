// fold_normalization: FilterOut = Filter k, BiasOut = (Bias - Mean) k + Shift, for every output channel
#include <algorithm>
#include <cmath>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

// The channels of a filter: [outer, channels of a group, inner], where consecutive parts of `outer` are the groups.
struct FilterChannels {
  int64_t outer, width, inner, groups;

  FilterChannels(const Shape& filter, int axis, int64_t groups)
      : outer(filter.numel(0, axis)), width(filter[axis]), inner(filter.numel(axis + 1, filter.rank())),
        groups(groups) {}
  int64_t count() const { return width * groups; }
};

// In double, and rounded once, whatever the element type.
template <class T>
struct FoldNormalizationKernel : Kernel {
  In<T> filter, bias, scale, shift, mean, variance;
  Out<T> filter_out, bias_out;
  FilterChannels channels;
  double epsilon, factor, offset;
  Scratch<double> factors;

  explicit FoldNormalizationKernel(KernelInit& init)
      : filter(init, "Filter"), bias(init, "Bias", optional_port), scale(init, "Scale", optional_port),
        shift(init, "Shift", optional_port), mean(init, "Mean", optional_port),
        variance(init, "Variance", optional_port), filter_out(init, "FilterOut"),
        bias_out(init, "BiasOut", optional_port),
        channels(filter.shape(), init.attr<int32_t>("axis"), init.attr<int32_t>("groups")),
        epsilon(init.attr<float>("epsilon")), factor(init.attr<float>("factor")), offset(init.attr<float>("offset")),
        factors(init, channels.count()) {}

  void run(KernelContext&) override {
    auto at = [](const In<T>& port, int64_t c, double absent) { return port ? static_cast<double>(port[c]) : absent; };
    for (int64_t c = 0; c < channels.count(); ++c) {
      double k = factor * at(scale, c, 1);
      if (variance) k /= std::sqrt(at(variance, c, 0) + epsilon);
      factors[c] = k;
      if (bias_out) bias_out[c] = static_cast<T>((at(bias, c, 0) - at(mean, c, 0)) * k + at(shift, c, 0) + offset);
    }
    const T* from = filter.data();
    T* to = filter_out.data();
    for (int64_t o = 0; o < channels.outer; ++o) {
      const double* of_group = factors.data() + o * channels.groups / channels.outer * channels.width;
      for (int64_t c = 0; c < channels.width; ++c, from += channels.inner, to += channels.inner) {
        const double k = of_group[c];
        std::transform(from, from + channels.inner, to,
                       [k](T value) { return static_cast<T>(static_cast<double>(value) * k); });
      }
    }
  }
};

void infer_fold_normalization(InferContext& c) {
  require_tensors(c);
  const Shape& filter = c.shape("Filter");
  int axis = c.attr<int32_t>("axis"), groups = c.attr<int32_t>("groups");
  require<ShapeError>(axis < filter.rank(), "axis is ", axis, ", Filter has shape ", filter.str());
  int64_t outer = filter.numel(0, axis);
  require<ShapeError>(groups == 1 || outer < 0 || outer % groups == 0, "Filter has shape ", filter.str(),
                      ", the axes before axis ", axis, " do not divide into ", groups, " groups");
  Shape channels{filter[axis] < 0 ? -1 : filter[axis] * groups};
  for (const char* port : {"Bias", "Scale", "Shift", "Mean", "Variance"}) {
    if (!c.has_input(port)) continue;
    require_same_dtype(c, "Filter", port);
    const Shape& shape = c.shape(port);
    require<ShapeError>(!shape.known() || channels[0] < 0 || shape.numel() == channels[0], port, " has shape ",
                        shape.str(), ", it must have ", channels[0], " elements: one for each output channel");
  }
  c.set_output("FilterOut", c.input("Filter"));
  c.set_output("BiasOut", c.input("Filter").dtype, channels);
}

}  // namespace

void define_fold_normalization(OpTable& ops) {
  ops.add(OpSchema("fold_normalization")
              .doc("The weights of a convolution or a product with the normalization after it folded into them: "
                   "FilterOut = Filter k and BiasOut = (Bias - Mean) k + Shift + offset for every output channel, with "
                   "k = factor Scale / sqrt(Variance + epsilon). The executor inserts it (docs/performance.md); it is "
                   "computed in float64.")
              .input("Filter", "weights; their axis `axis` has the output channels of a group")
              .optional_input("Bias", "[output channels]: the product's own bias; 0 if omitted")
              .optional_input("Scale", "[output channels]; 1 if omitted")
              .optional_input("Shift", "[output channels]; 0 if omitted")
              .optional_input("Mean", "[output channels]; 0 if omitted")
              .optional_input("Variance", "[output channels]; if omitted, k = factor Scale")
              .output("FilterOut", "shape of Filter")
              .optional_output("BiasOut", "[output channels]")
              .attr("axis", 0, "the axis of the output channels of a group", at_least(0))
              .attr("groups", 1, "the first axes of Filter have so many groups of output channels", at_least(1))
              .attr("epsilon", 1e-5f, "added to the variance", between(0, 1))
              .attr("factor", 1.0f, "factor of all channels")
              .attr("offset", 0.0f, "added to BiasOut in all channels")
              .infer(infer_fold_normalization)
              .no_gradient("it is for programs that do not change parameters")
              .cpu_only("the executor folds only on the CPU")
              .kernels<FoldNormalizationKernel, float, double>());
}

}  // namespace paddle_mini
