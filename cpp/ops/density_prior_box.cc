// density_prior_box: Boxes = boxes of several sizes and proportions, several of each around every cell of a feature map
#include <cmath>

#include "ops/family/prior_grid.h"

namespace paddle_mini {
namespace {

int64_t boxes_of_cell(const InferContext& c) {
  int64_t count = 0;
  for (int64_t density : c.attr<std::vector<int32_t>>("densities")) count += density * density;
  return count * static_cast<int64_t>(c.attr<std::vector<float>>("fixed_ratios").size());
}

template <class T>
struct DensityPriorBoxKernel : Kernel {
  Out<T> boxes, variances;
  PriorGrid grid;
  Shape cells;
  std::vector<float> variance;
  bool clip;

  explicit DensityPriorBoxKernel(KernelInit& init)
      : boxes(init, "Boxes", optional_port), variances(init, "Variances", optional_port),
        variance(init.attr<std::vector<float>>("variances")), clip(init.attr<bool>("clip")) {
    const Shape &input = init.input("Input")->tensor.shape, &image = init.input("Image")->tensor.shape;
    grid.set_cells(init, input, image);
    set_boxes(init);
    cells = {input[2], input[3], static_cast<int64_t>(grid.half.size()), 4};
  }

  // The centers of the boxes of one size are a square lattice with steps of whole pixels, as wide as a cell.
  void set_boxes(const KernelInit& init) {
    const auto &sizes = init.attr<std::vector<float>>("fixed_sizes"),
               &ratios = init.attr<std::vector<float>>("fixed_ratios");
    const auto& densities = init.attr<std::vector<int32_t>>("densities");
    int64_t side = static_cast<int64_t>((grid.step_x + grid.step_y) / 2);
    for (size_t s = 0; s < sizes.size(); ++s) {
      int64_t step = side / densities[s];
      double first = static_cast<double>(step) / 2 - static_cast<double>(side) / 2, size = sizes[s];
      for (double ratio : ratios) {
        for (int64_t i = 0; i < int64_t{densities[s]} * densities[s]; ++i) {
          grid.half.emplace_back(size * std::sqrt(ratio) / 2, size / std::sqrt(ratio) / 2);
          grid.moved.emplace_back(first + static_cast<double>(i % densities[s] * step),
                                  first + static_cast<double>(i / densities[s] * step));
        }
      }
    }
  }

  void run(KernelContext& context) override {
    grid.write(context, cells, variance, clip ? PriorClip::All : PriorClip::FarSides, boxes ? boxes.data() : nullptr,
               variances ? variances.data() : nullptr);
  }
};

void infer_density_prior_box(InferContext& c) {
  require_tensors(c);
  require_rank(c, "Input", 4);
  require_rank(c, "Image", 4);
  require_same_dtype(c, "Input", "Image");
  require_four_variances(c);
  for (const char* name : {"fixed_sizes", "fixed_ratios"}) require_positive_numbers(c, name);
  const auto& densities = c.attr<std::vector<int32_t>>("densities");
  size_t sizes = c.attr<std::vector<float>>("fixed_sizes").size();
  require<ProgramError>(densities.size() == sizes, "attribute 'densities' has ", densities.size(),
                        " numbers, 'fixed_sizes' has ", sizes);
  for (int32_t density : densities) {
    require<ProgramError>(density > 0 && density <= 1000, "attribute 'densities' holds ", density,
                          ", it must be from 1 to 1000");
  }
  const Shape &input = c.shape("Input"), &image = c.shape("Image");
  for (int axis : {2, 3}) {
    require<ShapeError>(input[axis] != 0 && image[axis] != 0, "Input has shape ", input.str(), ", Image has ",
                        image.str(), ": they must have cells and pixels");
  }
  Shape out{input[2], input[3], boxes_of_cell(c), 4};
  if (c.attr<bool>("flatten_to_2d")) {
    out = {input[2] < 0 || input[3] < 0 ? -1 : Shape{input[2], input[3], out[2]}.numel(), 4};
  }
  c.set_output("Boxes", c.input("Input").dtype, out);
  c.set_output("Variances", c.input("Input").dtype, out);
}

}  // namespace

void define_density_prior_box(OpTable& ops) {
  ops.add(prior_boxes(
      OpSchema("density_prior_box")
          .doc("In every cell of Input, density by density boxes of each of fixed_sizes with each of fixed_ratios, as "
               "parts of the size of Image. Their left and upper sides are at least 0, the others at most 1. Zhang "
               "et al. 2017, FaceBoxes.")
          .attr("fixed_sizes", std::vector<float>{}, "sizes of boxes, in pixels of Image")
          .attr("fixed_ratios", std::vector<float>{}, "width by height of boxes")
          .attr("densities", std::vector<int32_t>{}, "for each of fixed_sizes, how many boxes side by side")
          .attr("variances", std::vector<float>{0.1f, 0.1f, 0.2f, 0.2f},
                "four numbers that are written beside each box")
          .attr("clip", true, "whether all sides are clipped to the image")
          .attr("flatten_to_2d", false, "whether Boxes has two dimensions")
          .output("Boxes", "[rows, columns, boxes, 4], or [rows columns boxes, 4]: left, top, right, bottom")
          .infer(infer_density_prior_box)
          .kernels<DensityPriorBoxKernel, float, double>()));
}

}  // namespace paddle_mini
