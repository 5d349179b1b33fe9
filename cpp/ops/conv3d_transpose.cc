// conv3d_transpose: the gradient of conv3d with respect to its input: every voxel of Input adds the filter, scaled, to Output
#include "ops/family/filtered_volumes.h"
#include "ops/family/transposed_axis.h"

namespace paddle_mini {
namespace {

// NCHW, the default of PaddlePaddle's operator, has the channels in axis 1 too.
template <class Context>
VolumeLayout stamping_layout(const Context& c, const Shape& shape) {
  return {shape, c.template attr<std::string>("data_format")};
}

template <class Context>
VolumeAxes stamping_axes(const Context& c, const VolumeLayout& input, const Shape& filter) {
  VolumeAxes axes;
  for (size_t i = 0; i < 3; ++i) axes[i] = transposed_axis(c, 3, i, input.sizes[i], filter[2 + static_cast<int>(i)]);
  return axes;
}

// The convolution that this operator transposes goes from Output to Input.
FilteredVolumeSizes stamping_volumes(const KernelInit& init) {
  const Shape& filter = init.input("Filter")->tensor.shape;
  VolumeLayout layout = stamping_layout(init, init.input("Input")->tensor.shape);
  VolumeAxes axes = stamping_axes(init, layout, filter);
  int64_t groups = init.attr<int32_t>("groups");
  layout.channels = groups * filter[1];
  layout.sizes = {axes[0].size, axes[1].size, axes[2].size};
  return {layout, groups, filter[1], filter[0] / groups, axes};
}

template <class T>
struct StampedVolumes {
  static constexpr bool kStoresParts = false;
  FilteredVolumes<T> volumes;

  StampedVolumes(KernelInit& init, bool) : volumes(init, stamping_volumes(init)) {}
  void run(KernelContext& context, const T* input, const T* filter, T* output) {
    volumes.input_gradient(context, filter, input, output);
  }
  void filter_gradient(KernelContext& context, const T* input, const T* gradient, T* filter_gradient) {
    volumes.filter_gradient(context, gradient, input, filter_gradient);
  }
  void input_gradient(KernelContext& context, const T* filter, const T* gradient, T* input_gradient) {
    volumes.run(context, gradient, filter, input_gradient);
  }
};

Shape stamped_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& filter = filter_shape(c, 5);
  VolumeLayout input = stamping_layout(c, c.shape("Input"));
  int64_t groups = c.attr<int32_t>("groups");
  require<ShapeError>(dims_agree(input.channels, filter[0]), "Filter has ", filter[0], " input channels, Input has ",
                      input.channels);
  require<ShapeError>(filter[0] < 0 || filter[0] % groups == 0, "Filter has ", filter[0],
                      " input channels, which do not divide into ", groups, " groups");
  VolumeAxes axes = stamping_axes(c, input, filter);
  return input.with(filter[1] < 0 ? -1 : filter[1] * groups, {axes[0].size, axes[1].size, axes[2].size});
}

}  // namespace

void define_conv3d_transpose(OpTable& ops) {
  ops.add(
      OpSchema("conv3d_transpose")
          .doc("The transpose of conv3d: each voxel of Input adds a multiple of Filter to Output, as conv2d_transpose "
               "does "
               "for images. With groups, the output channels of a group read only the input channels of that group.")
          .input("Input", "[images, channels, depth, height, width], or channels last")
          .input("Filter", "[channels, output channels / groups, window depth, height, width]")
          .output("Output", "[images, output channels, depth, height, width], or channels last")
          .attr("strides", std::vector<int32_t>{1, 1, 1},
                "stride in Output between neighbouring voxels of Input: depth, height, width")
          .attr("paddings", std::vector<int32_t>{0, 0, 0},
                "what is cropped from Output: depth, height, width; or before and after each of them")
          .attr("output_padding", std::vector<int32_t>{}, "additional depth, height and width of Output; empty: none")
          .attr("output_size", std::vector<int32_t>{},
                "depth, height and width of Output; empty: the smallest possible")
          .attr("padding_algorithm", "EXPLICIT", "EXPLICIT: `paddings`; SAME: computed from the sizes; VALID: none",
                one_of({"EXPLICIT", "SAME", "VALID"}))
          .attr("groups", 1, "channels fall into so many groups that do not mix", at_least(1))
          .attr("dilations", std::vector<int32_t>{1, 1, 1}, "distance between taps of the window: depth, height, width")
          .attr("data_format", "NCHW",
                "NCDHW or NCHW: axis 1 has the channels; NDHWC or NHWC, which PaddlePaddle writes: the last axis has "
                "them",
                one_of({"NCHW", "NHWC", "NCDHW", "NDHWC", "AnyLayout"}))
          .infer([](InferContext& c) { c.set_output("Output", c.input("Input").dtype, stamped_shape(c)); })
          .gradient("conv3d_transpose_grad", {"Input", "Filter", "Output@GRAD"}, {"Input@GRAD", "Filter@GRAD"})
          .on_gpu()
          .kernels<ConvolutionKernel<StampedVolumes>::For, float, double>());
  ops.add(bilinear_gradient_of(ops, "conv3d_transpose")
              .doc("Gradients of conv3d_transpose with respect to its volume and its filter.")
              .kernels<ConvolutionGradKernel<StampedVolumes>::For, float, double>());
  ops.add(bilinear_second_gradient(ops, "conv3d_transpose")
              .kernels<BilinearSecondKernel<ConvolutionKernel<StampedVolumes>::For,
                                            ConvolutionGradKernel<StampedVolumes>::For>::For,
                       float, double>());
}

}  // namespace paddle_mini
