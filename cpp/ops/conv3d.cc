// conv3d: Output[n, o, z, y, x] = sum over c, k, i, j of Filter[o, c, k, i, j] Input[n, c, z + k, y + i, x + j], with
// strides and paddings
#include "math/volume.h"
#include "ops/family/convolution.h"

namespace paddle_mini {
namespace {

template <class Context>
VolumeAxes conv3d_axes_of(const Context& c, const VolumeLayout& input, const Shape& filter) {
  VolumeWindow window;
  window.strides = c.template attr<std::vector<int32_t>>("strides");
  window.dilations = c.template attr<std::vector<int32_t>>("dilations");
  window.paddings = c.template attr<std::vector<int32_t>>("paddings");
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  return window.axes(input.sizes, {filter[2], filter[3], filter[4]});
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(conv3d)

namespace paddle_mini {
namespace {

Shape conv3d_output_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "Input", "Filter");
  require_rank(c, "Input", 5);
  require_rank(c, "Filter", 5);
  const Shape& filter = c.shape("Filter");
  VolumeLayout input(c.shape("Input"), c.attr<std::string>("data_format"));
  for (int axis : {2, 3, 4}) {
    require<ShapeError>(filter[axis] != 0, "Filter has shape ", filter.str(),
                        ", each dimension of the window must be at least 1");
  }
  int64_t groups = c.attr<int32_t>("groups");
  require<ShapeError>(filter[1] < 0 || dims_agree(input.channels, filter[1] * groups), "Filter has ", filter[1],
                      " input channels", groups > 1 ? text(" for each of ", groups, " groups") : "", ", Input has ",
                      input.channels);
  require<ShapeError>(filter[0] < 0 || filter[0] % groups == 0, "Filter has ", filter[0],
                      " output channels, which do not divide into ", groups, " groups");
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
          .kernels<ConvolutionKernel<FilteredVolumes>::For, float, double>());
  ops.add(ops.gradient_of("conv3d")
              .doc("Gradients of conv3d with respect to its volume and its filter.")
              .kernels<ConvolutionGradKernel<FilteredVolumes>::For, float, double>());
}

}  // namespace paddle_mini
