// The schemas of deformable convolutions.
#include "ops/family/deformable.h"

namespace paddle_mini {

Shape deformable_output_shape(const InferContext& c) {
  require_tensors(c);
  const Shape &filter = filter_shape(c, 4), &input = c.shape("Input");
  int64_t parts = c.attr<int32_t>("deformable_groups");
  require_channels(filter, c.attr<int32_t>("groups"), input[1]);
  require<ShapeError>(input[1] < 0 || input[1] % parts == 0, "Input has ", input[1],
                      " channels, which do not divide into ", parts, " deformable groups");
  auto [height, width] = deformable_axes(c, input, filter);
  int64_t taps = filter[2] < 0 || filter[3] < 0 ? -1 : filter[2] * filter[3];
  auto require_port = [&](const char* port, int64_t channels) {
    Shape wanted{input[0], taps < 0 ? -1 : channels * taps, height.out, width.out};
    require_same_dtype(c, "Input", port);
    require<ShapeError>(shapes_agree(c.shape(port), wanted), port, " has shape ", c.shape(port).str(), ", it must be ",
                        wanted.str());
  };
  require_port("Offset", 2 * parts);
  if (c.has_input("Mask")) require_port("Mask", parts);
  return {input[0], filter[0], height.out, width.out};
}

void add_deformable_conv(OpTable& ops, const char* type, const char* doc, bool modulated) {
  OpSchema schema(type);
  schema.doc(doc)
      .input("Input", "[images, channels, height, width]")
      .input("Offset",
             "[images, 2 deformable groups taps, output height, output width]: for each tap how far down, and how far "
             "right")
      .input("Filter", "[output channels, channels / groups, window height, window width]");
  if (modulated)
    schema.input("Mask", "[images, deformable groups taps, output height, output width]: factors of the taps");
  std::vector<std::string> inputs = {"Input", "Offset", "Filter"},
                           gradients = {"Input@GRAD", "Offset@GRAD", "Filter@GRAD"};
  if (modulated) inputs.push_back("Mask"), gradients.push_back("Mask@GRAD");
  inputs.push_back("Output@GRAD");
  ops.add(
      schema.output("Output", "[images, output channels, output height, output width]")
          .attr("strides", std::vector<int32_t>{1, 1}, "stride of the window: height, width")
          .attr("paddings", std::vector<int32_t>{0, 0}, "zeros around the image: height, width")
          .attr("dilations", std::vector<int32_t>{1, 1}, "distance between taps of the window: height, width")
          .attr("groups", 1, "channels fall into so many groups that do not mix", at_least(1))
          .attr("deformable_groups", 1, "channels fall into so many groups with offsets of their own", at_least(1))
          .attr("im2col_step", 64, "of PaddlePaddle's GPU kernels; without effect")
          .infer([](InferContext& c) { c.set_output("Output", c.input("Input").dtype, deformable_output_shape(c)); })
          .gradient(std::string(type) + "_grad", inputs, gradients)
          .cpu_only("it gathers patches by offsets one element at a time")
          .kernels<DeformableKernel, float, double>());
  ops.add(ops.gradient_of(type)
              .doc(std::string("Gradients of ") + type + " with respect to its inputs.")
              .infer([](InferContext& c) {
                Shape out = deformable_output_shape(c);
                require_same_dtype(c, "Input", "Output@GRAD");
                require<ShapeError>(shapes_agree(c.shape("Output@GRAD"), out), "Output@GRAD has shape ",
                                    c.shape("Output@GRAD").str(), ", it must be ", out.str());
                gradients_like_inputs(c);
              })
              .kernels<DeformableGradKernel, float, double>());
}

}  // namespace paddle_mini
