// conv2d: Output[n, o, y, x] = sum over c, i, j of Filter[o, c, i, j] Input[n, c, y + i, x + j], with strides and
// paddings
#include "math/channels_last.h"
#include "math/convolution.h"
#include "ops/family/convolution.h"

namespace paddle_mini {
namespace {

ConvolutionSizes conv2d_sizes(const KernelInit& init) {
  const Shape &x = init.input("Input")->tensor.shape, &filter = init.input("Filter")->tensor.shape;
  auto [height, width] = window_attributes(init).axes(x[2], x[3], filter[2], filter[3]);
  int64_t groups = init.attr<int32_t>("groups");
  return {x[0], groups, filter[1], filter[0] / groups, height, width};
}

template <class T>
struct ImageFilters : Convolution<T> {
  ImageFilters(KernelInit& init, bool with_gradients) : Convolution<T>(init, conv2d_sizes(init), with_gradients) {}
};

Shape conv2d_output_shape(const InferContext& c) {
  require_same_dtype(c, "Input", "Filter");
  require_rank(c, "Input", 4);
  require_rank(c, "Filter", 4);
  const Shape &x = c.shape("Input"), &filter = c.shape("Filter");
  for (int axis : {2, 3}) {
    require<ShapeError>(filter[axis] != 0, "Filter has shape ", filter.str(),
                        ", each dimension of the window must be at least 1");
  }
  int64_t groups = c.attr<int32_t>("groups");
  require<ShapeError>(filter[1] < 0 || dims_agree(x[1], filter[1] * groups), "Filter has ", filter[1],
                      " input channels", groups > 1 ? text(" for each of ", groups, " groups") : "", ", Input has ",
                      x[1]);
  require<ShapeError>(filter[0] < 0 || filter[0] % groups == 0, "Filter has ", filter[0],
                      " output channels, which do not divide into ", groups, " groups");
  auto [height, width] = window_attributes(c).axes(x[2], x[3], filter[2], filter[3]);
  return Shape{x[0], filter[0], height.out, width.out};
}

// depthwise_conv2d is another name of the same operator, for groups of one channel.
void define_convolution(OpTable& ops, const std::string& type) {
  ops.add(OpSchema(type)
              .doc("Cross-correlation of every image with every filter: Output[n, o, y, x] = sum over c, i, j of "
                   "Filter[o, c, i, j] Input[n, c, y stride - padding + i dilation, x stride - padding + j dilation], "
                   "with zeros outside of the image. With groups, the output channels of a group read only the input "
                   "channels of that group.")
              .input("Input", "[images, channels, height, width]")
              .input("Filter", "[output channels, channels / groups, window height, window width]")
              .output("Output", "[images, output channels, output height, output width]")
              .attr("strides", std::vector<int32_t>{1, 1}, "stride of the window: height, width")
              .attr("paddings", std::vector<int32_t>{0, 0},
                    "zeros around the image: height, width; or above, below, left, right")
              .attr("padding_algorithm", "EXPLICIT",
                    "EXPLICIT: `paddings`; SAME: the output has ceil(input / stride) positions; VALID: none",
                    one_of({"EXPLICIT", "SAME", "VALID"}))
              .attr("dilations", std::vector<int32_t>{1, 1}, "distance between taps of the window: height, width")
              .attr("groups", 1, "channels fall into so many groups that do not mix", at_least(1))
              .attr("data_format", "NCHW", "NCHW: axis 1 has the channels; NHWC: the last axis has them",
                    one_of(image_layouts()))
              .infer(for_both_layouts([](InferContext& c) {
                c.set_output("Output", c.input("Input").dtype, conv2d_output_shape(c));
              }))
              .gradient(type + "_grad", {"Input", "Filter", "Output@GRAD"}, {"Input@GRAD", "Filter@GRAD"})
              .on_gpu()
              .kernels<AnyLayout<ConvolutionKernel<ImageFilters>::For>::Of, float, double>());
  ops.add(ops.gradient_of(type)
              .doc("Gradients of " + type + " with respect to its image and its filter.")
              .kernels<AnyLayout<ConvolutionGradKernel<ImageFilters>::For>::Of, float, double>());
}

}  // namespace

void define_conv2d(OpTable& ops) {
  define_convolution(ops, "conv2d");
  define_convolution(ops, "depthwise_conv2d");
}

}  // namespace paddle_mini
