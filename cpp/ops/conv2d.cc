// conv2d: Output[n, o, y, x] = sum over c, i, j of Filter[o, c, i, j] Input[n, c, y + i, x + j], with strides and
// paddings
#include "math/convolution.h"
#include "ops/family/convolution.h"

namespace paddle_mini {
namespace {

ConvolutionSizes conv2d_sizes(const KernelInit& init) {
  const Shape &x = init.input("Input")->tensor.shape, &filter = init.input("Filter")->tensor.shape;
  auto [height, width] = convolution_window(init, 2).axes<2>({x[2], x[3]}, {filter[2], filter[3]});
  int64_t groups = init.attr<int32_t>("groups");
  return {x[0], groups, filter[1], filter[0] / groups, height, width};
}

template <class T>
struct ImageFilters : Convolution<T> {
  // Results of bfloat16 are stored by tiles, or rounded from an array of float32.
  static constexpr bool kStoresParts = !kOnGpu && !std::is_same_v<T, BFloat16>;

  ImageFilters(KernelInit& init, bool gradients)
      : Convolution<T>(init, conv2d_sizes(init), {!gradients, gradients, gradients}) {}
};

Shape conv2d_output_shape(const InferContext& c) {
  const Shape &filter = filter_shape(c, 4), &x = c.shape("Input");
  require_channels(filter, c.attr<int32_t>("groups"), x[1]);
  auto [height, width] = convolution_window(c, 2).axes<2>({x[2], x[3]}, {filter[2], filter[3]});
  return Shape{x[0], filter[0], height.out, width.out};
}

// depthwise_conv2d is another name of the same operator, for groups of one channel.
void define_convolution(OpTable& ops, const std::string& type) {
  add_image_convolution<ImageFilters>(
      ops,
      OpSchema(type)
          .doc("Cross-correlation of every image with every filter: Output[n, o, y, x] = sum over c, i, j of "
               "Filter[o, c, i, j] Input[n, c, y stride - padding + i dilation, x stride - padding + j dilation], "
               "with zeros outside of the image. With groups, the output channels of a group read only the input "
               "channels of that group.")
          .stores_parts("Output")
          .splits_batch("Input")
          .input("Input", "[images, channels, height, width]")
          .input("Filter", "[output channels, channels / groups, window height, window width]")
          .output("Output", "[images, output channels, output height, output width]")
          .attr("strides", std::vector<int32_t>{1, 1}, "stride of the window: height, width")
          .attr("paddings", std::vector<int32_t>{0, 0},
                "zeros around the image: height, width; or above, below, left, right")
          .attr("padding_algorithm", "EXPLICIT",
                "EXPLICIT: `paddings`; SAME: the output has ceil(input / stride) positions; VALID: none",
                one_of({"EXPLICIT", "SAME", "VALID"})),
      conv2d_output_shape);
}

}  // namespace

void define_conv2d(OpTable& ops) {
  define_convolution(ops, "conv2d");
  define_convolution(ops, "depthwise_conv2d");
}

}  // namespace paddle_mini
