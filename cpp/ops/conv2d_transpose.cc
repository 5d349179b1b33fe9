// conv2d_transpose: the gradient of conv2d with respect to its input: every pixel of Input adds the filter, scaled, to
// Output
#include "math/convolution.h"
#include "ops/family/convolution.h"
#include "ops/family/transposed_axis.h"

namespace paddle_mini {
namespace {

ConvolutionSizes stamping_sizes(const KernelInit& init) {
  const Shape &x = init.input("Input")->tensor.shape, &filter = init.input("Filter")->tensor.shape;
  int64_t groups = init.attr<int32_t>("groups");
  WindowAxis height = transposed_axis(init, 2, 0, x[2], filter[2]),
             width = transposed_axis(init, 2, 1, x[3], filter[3]);
  return {x[0], groups, filter[1], filter[0] / groups, height, width};
}

template <class T>
struct StampedFilters {
  static constexpr bool kStoresParts = false;
  Convolution<T> convolution;

  StampedFilters(KernelInit& init, bool gradients)
      : convolution(init, stamping_sizes(init), {gradients, !gradients, gradients}) {}
  void run(KernelContext& context, const T* input, const T* filter, T* output) {
    convolution.input_gradient(context, filter, input, output);
  }
  void filter_gradient(KernelContext& context, const T* input, const T* gradient, T* filter_gradient) {
    convolution.filter_gradient(context, gradient, input, filter_gradient);
  }
  void input_gradient(KernelContext& context, const T* filter, const T* gradient, T* input_gradient) {
    convolution.run(context, gradient, filter, input_gradient);
  }
};

Shape stamping_output_shape(const InferContext& c) {
  require_tensors(c);
  const Shape &filter = filter_shape(c, 4), &x = c.shape("Input");
  int64_t groups = c.attr<int32_t>("groups");
  require<ShapeError>(dims_agree(x[1], filter[0]), "Filter has ", filter[0], " input channels, Input has ", x[1]);
  require<ShapeError>(filter[0] < 0 || filter[0] % groups == 0, "Filter has ", filter[0],
                      " input channels, which do not divide into ", groups, " groups");
  WindowAxis height = transposed_axis(c, 2, 0, x[2], filter[2]), width = transposed_axis(c, 2, 1, x[3], filter[3]);
  return Shape{x[0], filter[1] < 0 ? -1 : filter[1] * groups, height.size, width.size};
}

// depthwise_conv2d_transpose is another name of the same operator, for groups of one channel.
void define_transpose(OpTable& ops, const std::string& type) {
  add_image_convolution<StampedFilters>(
      ops,
      OpSchema(type)
          .doc("Output[n, o, y stride - padding + i dilation, x stride - padding + j dilation] = sum over c of "
               "Input[n, c, y, x] Filter[c, o, i, j]: the transpose of conv2d. With groups, the output channels of "
               "a group read only the input channels of that group.")
          .input("Input", "[images, channels, height, width]")
          .input("Filter", "[channels, output channels / groups, window height, window width]")
          .output("Output", "[images, output channels, output height, output width]")
          .attr("strides", std::vector<int32_t>{1, 1},
                "stride in Output between neighbouring pixels of Input: height, width")
          .attr("paddings", std::vector<int32_t>{0, 0},
                "rows and columns that are cropped from Output: height, width; or above, below, left, right")
          .attr("output_padding", std::vector<int32_t>{}, "additional rows and columns of Output; empty: none")
          .attr("output_size", std::vector<int32_t>{}, "height and width of Output; empty: the smallest possible")
          .attr("padding_algorithm", "EXPLICIT", "EXPLICIT: `paddings`; SAME: computed from the sizes; VALID: none",
                one_of({"EXPLICIT", "SAME", "VALID"})),
      stamping_output_shape);
}

}  // namespace

void define_conv2d_transpose(OpTable& ops) {
  define_transpose(ops, "conv2d_transpose");
  define_transpose(ops, "depthwise_conv2d_transpose");
}

}  // namespace paddle_mini
