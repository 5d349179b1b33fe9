// anchor_generator: Anchors = boxes of several sizes and proportions around every cell of a feature map, in pixels
#include <cmath>

#include "ops/family/prior_grid.h"

namespace paddle_mini {
namespace {

template <class T>
struct AnchorGeneratorKernel : Kernel {
  Out<T> anchors, variances;
  PriorGrid grid;
  std::vector<float> variance;

  explicit AnchorGeneratorKernel(KernelInit& init)
      : anchors(init, "Anchors", optional_port), variances(init, "Variances", optional_port),
        variance(init.attr<std::vector<float>>("variances")) {
    const auto& stride = init.attr<std::vector<float>>("stride");
    grid.step_x = stride[0], grid.step_y = stride[1];
    double offset = init.attr<float>("offset");
    grid.first_x = offset * (grid.step_x - 1), grid.first_y = offset * (grid.step_y - 1);
    // The base has the area of a cell, in whole pixels; both ends of a box are pixels inside.
    for (double ratio : init.attr<std::vector<float>>("aspect_ratios")) {
      double width = std::round(std::sqrt(grid.step_x * grid.step_y / ratio)), height = std::round(width * ratio);
      for (double size : init.attr<std::vector<float>>("anchor_sizes")) {
        grid.half.emplace_back((size / grid.step_x * width - 1) / 2, (size / grid.step_y * height - 1) / 2);
      }
    }
  }

  void run(KernelContext& context) override {
    grid.write(context, anchors ? anchors.shape() : variances.shape(), variance, PriorClip::None,
               anchors ? anchors.data() : nullptr, variances ? variances.data() : nullptr);
  }
};

void infer_anchor_generator(InferContext& c) {
  require_tensors(c);
  require_rank(c, "Input", 4);
  require_four_variances(c);
  for (const char* name : {"anchor_sizes", "aspect_ratios", "stride"}) require_positive_numbers(c, name);
  size_t steps = c.attr<std::vector<float>>("stride").size();
  require<ProgramError>(steps == 2, "attribute 'stride' has ", steps, " numbers, it must have 2");
  size_t count = c.attr<std::vector<float>>("anchor_sizes").size() * c.attr<std::vector<float>>("aspect_ratios").size();
  require<ProgramError>(count > 0, "attribute 'anchor_sizes' or 'aspect_ratios' is empty");
  const Shape& input = c.shape("Input");
  Shape out{input[2], input[3], static_cast<int64_t>(count), 4};
  c.set_output("Anchors", c.input("Input").dtype, out);
  c.set_output("Variances", c.input("Input").dtype, out);
}

}  // namespace

void define_anchor_generator(OpTable& ops) {
  ops.add(OpSchema("anchor_generator")
              .doc("Around every cell of Input, a box of each of anchor_sizes with each of aspect_ratios, in pixels of "
                   "the image. The center of cell x is stride x + offset (stride - 1). A box is that of a cell's area, "
                   "rounded to whole pixels, enlarged. Ren et al. 2015, Faster R-CNN.")
              .required_attr("anchor_sizes", AttrType::Floats, "sizes of boxes, in pixels")
              .required_attr("aspect_ratios", AttrType::Floats, "height by width of boxes")
              .required_attr("variances", AttrType::Floats, "four numbers that are written beside each box")
              .attr("stride", std::vector<float>{16.0f, 16.0f}, "pixels between columns, and between rows")
              .attr("offset", 0.5f, "the center of the first cell")
              .shape_input("Input", "[images, channels, rows, columns]: the feature map")
              .output("Anchors", "[rows, columns, boxes, 4]: left, top, right, bottom")
              .output("Variances", "shape of Anchors: variances")
              .infer(infer_anchor_generator)
              .no_gradient("its boxes do not depend on data")
              .cpu_only("its sizes are lists, which no launcher passes")
              .kernels<AnchorGeneratorKernel, float, double>());
}

}  // namespace paddle_mini
