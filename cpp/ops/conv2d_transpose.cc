// conv2d_transpose: the gradient of conv2d with respect to its input: every pixel of Input adds the filter, scaled, to
// Output
#include "math/convolution.h"
#include "ops/family/convolution.h"

namespace paddle_mini {
namespace {

// Number i of an attribute that is empty or has one number for the height and one for the width.
template <class Context>
int64_t optional_number(const Context& c, const char* name, int i, int64_t otherwise) {
  const std::vector<int32_t>& values = c.template attr<std::vector<int32_t>>(name);
  if (values.empty()) return otherwise;
  require<ProgramError>(values.size() == 2, "attribute '", name, "' has ", values.size(), " numbers, it must have 2");
  return values[i];
}

// One axis of the convolution that this operator transposes. The convolution goes from Output, `size`, to Input, `out`.
template <class Context>
WindowAxis transposed_axis(const Context& c, int i, int64_t in, int64_t window) {
  WindowAttributes w = convolution_window(c, 2);
  w.check(2);
  WindowAxis a = w.unsized_axis(i, window);
  a.out = in;
  int64_t more = optional_number(c, "output_padding", i, 0), wanted = optional_number(c, "output_size", i, -1);
  if (in < 0 || window < 0) return a;
  if (w.algorithm == "SAME") {  // PaddlePaddle computes with the size of Input, and ignores the dilation
    a.dilation = 1;
    int64_t total = std::max<int64_t>(((in + a.stride - 1) / a.stride - 1) * a.stride + window - in, 0);
    a.before = total / 2;
    a.after = total - a.before;
  }
  require<ShapeError>(in > 0, "Input has no pixels");
  int64_t least = (in - 1) * a.stride - a.before - a.after + a.dilation * (window - 1) + 1;
  require<ProgramError>(more >= 0 && more < std::max(a.stride, a.dilation), "attribute 'output_padding' holds ", more,
                        ", it must be at least 0 and below the stride or the dilation, ",
                        std::max(a.stride, a.dilation));
  require<ProgramError>(wanted < 0 || (wanted >= least && wanted < least + a.stride), "attribute 'output_size' holds ",
                        wanted, ", with this Input it must be from ", least, " to ", least + a.stride - 1);
  a.size = wanted < 0 ? least + more : wanted;
  require<ShapeError>(a.size > 0, "paddings of ", a.before, " and ", a.after, " leave no pixel of ", in, " pixels");
  return a;
}

ConvolutionSizes stamping_sizes(const KernelInit& init) {
  const Shape &x = init.input("Input")->tensor.shape, &filter = init.input("Filter")->tensor.shape;
  int64_t groups = init.attr<int32_t>("groups");
  WindowAxis height = transposed_axis(init, 0, x[2], filter[2]), width = transposed_axis(init, 1, x[3], filter[3]);
  return {x[0], groups, filter[1], filter[0] / groups, height, width};
}

template <class T>
struct StampedFilters {
  Convolution<T> convolution;

  StampedFilters(KernelInit& init, bool) : convolution(init, stamping_sizes(init), true) {}
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
  WindowAxis height = transposed_axis(c, 0, x[2], filter[2]), width = transposed_axis(c, 1, x[3], filter[3]);
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
