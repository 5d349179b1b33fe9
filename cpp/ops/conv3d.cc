// conv3d: Output[n, o, z, y, x] = sum over c, k, i, j of Filter[o, c, k, i, j] Input[n, c, z + k, y + i, x + j], with
// strides and paddings
#include "ops/family/filtered_volumes.h"

namespace paddle_mini {
namespace {

template <class Context>
VolumeAxes conv3d_axes_of(const Context& c, const VolumeLayout& input, const Shape& filter) {
  return convolution_window(c, 3).template axes<3>(input.sizes, {filter[2], filter[3], filter[4]});
}

FilteredVolumeSizes conv3d_sizes(const KernelInit& init) {
  const Shape& filter = init.input("Filter")->tensor.shape;
  VolumeLayout input(init.input("Input")->tensor.shape, init.attr<std::string>("data_format"));
  int64_t groups = init.attr<int32_t>("groups");
  return {input, groups, filter[1], filter[0] / groups, conv3d_axes_of(init, input, filter)};
}

template <class T>
struct Conv3dFilters : FilteredVolumes<T> {
  static constexpr bool kStoresParts = false;

  Conv3dFilters(KernelInit& init, bool) : FilteredVolumes<T>(init, conv3d_sizes(init)) {}
};

Shape conv3d_output_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& filter = filter_shape(c, 5);
  VolumeLayout input(c.shape("Input"), c.attr<std::string>("data_format"));
  require_channels(filter, c.attr<int32_t>("groups"), input.channels);
  auto [depth, height, width] = conv3d_axes_of(c, input, filter);
  return input.with(filter[0], {depth.out, height.out, width.out});
}

}  // namespace

void define_conv3d(OpTable& ops) {
  ops.add(
      OpSchema("conv3d")
          .doc("Cross-correlation of every volume with every filter, with zeros outside of the volume, as conv2d does "
               "for images. With groups, the output channels of a group read only the input channels of that group.")
          .input("Input", "[images, channels, depth, height, width], or channels last")
          .input("Filter", "[output channels, channels / groups, window depth, height, width]")
          .output("Output", "[images, output channels, depth, height, width], or channels last")
          .attr("strides", std::vector<int32_t>{1, 1, 1}, "stride of the window: depth, height, width")
          .attr("paddings", std::vector<int32_t>{0, 0, 0},
                "zeros around the volume: depth, height, width; or before and after each of them")
          .attr("padding_algorithm", "EXPLICIT",
                "EXPLICIT: `paddings`; SAME: the output has ceil(input / stride) positions; VALID: none",
                one_of({"EXPLICIT", "SAME", "VALID"}))
          .attr("groups", 1, "channels fall into so many groups that do not mix", at_least(1))
          .attr("dilations", std::vector<int32_t>{1, 1, 1}, "distance between taps of the window: depth, height, width")
          .attr("data_format", "NCDHW", "whether axis 1 or the last axis of Input and Output has the channels",
                one_of({"NCDHW", "NDHWC", "AnyLayout"}))
          .infer([](InferContext& c) { c.set_output("Output", c.input("Input").dtype, conv3d_output_shape(c)); })
          .gradient("conv3d_grad", {"Input", "Filter", "Output@GRAD"}, {"Input@GRAD", "Filter@GRAD"})
          .on_gpu()
          .kernels<ConvolutionKernel<Conv3dFilters>::For, float, double>());
  ops.add(bilinear_gradient_of(ops, "conv3d")
              .doc("Gradients of conv3d with respect to its volume and its filter.")
              .kernels<ConvolutionGradKernel<Conv3dFilters>::For, float, double>());
  ops.add(bilinear_second_gradient(ops, "conv3d")
              .kernels<BilinearSecondKernel<ConvolutionKernel<Conv3dFilters>::For,
                                            ConvolutionGradKernel<Conv3dFilters>::For>::For,
                       float, double>());
}

}  // namespace paddle_mini
