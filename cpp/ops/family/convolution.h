// Kernels and schemas of convolutions of images and volumes.
//
// Filters<T>(init, with_gradients) has run(context, input, filter, output), filter_gradient(context, input,
// output_gradient, filter_gradient) and input_gradient(context, filter, output_gradient, input_gradient). kStoresParts:
// whether run() adds the parts of the output to StoredParts.
#pragma once

#include "core/op_table.h"
#include "math/channels_last.h"
#include "ops/family/bilinear.h"
#include "ops/family/narrow_kernels.h"

namespace paddle_mini {

// The shape of Filter, whose window is not empty.
inline const Shape& filter_shape(const InferContext& c, int rank) {
  require_same_dtype(c, "Input", "Filter");
  require_rank(c, "Input", rank);
  require_rank(c, "Filter", rank);
  const Shape& filter = c.shape("Filter");
  for (int axis = 2; axis < rank; ++axis) {
    require<ShapeError>(filter[axis] != 0, "Filter has shape ", filter.str(),
                        ", each dimension of the window must be at least 1");
  }
  return filter;
}

// Filter [output channels, channels / groups, window...] must fit an Input with so many channels.
inline void require_channels(const Shape& filter, int64_t groups, int64_t channels) {
  require<ShapeError>(filter[1] < 0 || dims_agree(channels, filter[1] * groups), "Filter has ", filter[1],
                      " input channels", groups > 1 ? text(" for each of ", groups, " groups") : "", ", Input has ",
                      channels);
  require<ShapeError>(filter[0] < 0 || filter[0] % groups == 0, "Filter has ", filter[0],
                      " output channels, which do not divide into ", groups, " groups");
}

template <template <class> class Filters>
struct ConvolutionKernel {
  template <class T>
  struct For : Kernel {
    In<T> input, filter;
    Out<T> output;
    Filters<T> filters;

    explicit For(KernelInit& init)
        : input(init, "Input"), filter(init, "Filter"), output(init, "Output"), filters(init, false) {}
    void run(KernelContext& context) override { filters.run(context, input.data(), filter.data(), output.data()); }
    bool stores_parts() const override { return Filters<T>::kStoresParts; }
  };
};

template <template <class> class Filters>
struct ConvolutionGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> input, filter, gradient;
    Out<T> input_gradient, filter_gradient;
    Filters<T> filters;

    explicit For(KernelInit& init)
        : input(init, "Input"), filter(init, "Filter"), gradient(init, "Output@GRAD"),
          input_gradient(init, "Input@GRAD", optional_port), filter_gradient(init, "Filter@GRAD", optional_port),
          filters(init, true) {}
    void run(KernelContext& context) override {
      if (filter_gradient) filters.filter_gradient(context, input.data(), gradient.data(), filter_gradient.data());
      if (input_gradient) filters.input_gradient(context, filter.data(), gradient.data(), input_gradient.data());
    }
  };
};

// Adds a convolution of images and its gradient: completes a schema that has the docs and the attributes that differ.
template <template <class> class Filters>
void add_image_convolution(OpTable& ops, OpSchema schema, Shape (*output_shape)(const InferContext&)) {
  const std::string type = schema.type();
  schema.attr("dilations", std::vector<int32_t>{1, 1}, "distance between taps of the filter: height, width")
      .attr("groups", 1, "channels fall into so many groups that do not mix", at_least(1))
      .attr("data_format", "NCHW", "NCHW: axis 1 has the channels; NHWC: the last axis has them",
            one_of(image_layouts()))
      .infer(for_both_layouts([output_shape](InferContext& c) {
        c.set_output("Output", c.input("Input").dtype, output_shape(c));
      }))
      .gradient(type + "_grad", {"Input", "Filter", "Output@GRAD"}, {"Input@GRAD", "Filter@GRAD"})
      .on_gpu()
      .template kernels<AnyLayout<ConvolutionKernel<Filters>::template For>::template Of, float, double>();
  ops.add(with_bfloat16_convolutions<AnyLayout<ConvolutionKernel<Filters>::template For>::template Of>(ops, schema));
  OpSchema gradient = bilinear_gradient_of(ops, type);
  gradient.doc("Gradients of " + type + " with respect to its image and its filter.")
      .template kernels<AnyLayout<ConvolutionGradKernel<Filters>::template For>::template Of, float, double>();
  ops.add(with_bfloat16_convolutions<AnyLayout<ConvolutionGradKernel<Filters>::template For>::template Of>(ops,
                                                                                                           gradient));
  ops.add(
      bilinear_second_gradient(ops, type)
          .template kernels<
              BilinearSecondKernel<AnyLayout<ConvolutionKernel<Filters>::template For>::template Of,
                                   AnyLayout<ConvolutionGradKernel<Filters>::template For>::template Of>::template For,
              float, double>());
}

}  // namespace paddle_mini
