// prior_box: Boxes = boxes of several sizes and proportions around every cell of a feature map
#include <cmath>

#include "ops/family/prior_grid.h"

namespace paddle_mini {
namespace {

// Width by height: 1 first, then the others without repetitions, each followed by its inverse if `flip`.
template <class Source>
std::vector<double> prior_ratios(const Source& source) {
  std::vector<double> ratios{1.0};
  for (float ratio : source.template attr<std::vector<float>>("aspect_ratios")) {
    double wanted = ratio;
    bool known = false;
    for (double other : ratios) known = known || std::abs(other - wanted) < 1e-6;
    if (known) continue;
    ratios.push_back(wanted);
    if (source.template attr<bool>("flip")) ratios.push_back(1.0 / wanted);
  }
  return ratios;
}

template <class T>
struct PriorBoxKernel : Kernel {
  Out<T> boxes, variances;
  PriorGrid grid;
  std::vector<float> variance;
  bool clip, empty;

  explicit PriorBoxKernel(KernelInit& init)
      : boxes(init, "Boxes", optional_port), variances(init, "Variances", optional_port),
        variance(init.attr<std::vector<float>>("variances")), clip(init.attr<bool>("clip")) {
    const Shape &input = init.input("Input")->tensor.shape, &image = init.input("Image")->tensor.shape;
    empty = input.numel() == 0 || image.numel() == 0;
    if (empty) return;
    grid.set_cells(init, input, image);
    set_sizes(init);
  }

  void set_sizes(const KernelInit& init) {
    const auto &least = init.attr<std::vector<float>>("min_sizes"), &most = init.attr<std::vector<float>>("max_sizes");
    std::vector<double> ratios = prior_ratios(init);
    bool square_first = init.attr<bool>("min_max_aspect_ratios_order");
    for (size_t s = 0; s < least.size(); ++s) {
      double small = least[s];
      std::vector<std::pair<double, double>> larger;
      if (!most.empty()) {
        double side = std::sqrt(small * most[s]) / 2;
        larger.emplace_back(side, side);
      }
      for (double ratio : ratios) {
        grid.half.emplace_back(small * std::sqrt(ratio) / 2, small / std::sqrt(ratio) / 2);
        if (square_first) grid.half.insert(grid.half.end(), larger.begin(), larger.end()), larger.clear();
      }
      grid.half.insert(grid.half.end(), larger.begin(), larger.end());
    }
  }

  void run(KernelContext& context) override {
    T *to = boxes ? boxes.data() : nullptr, *beside = variances ? variances.data() : nullptr;
    if (empty) {
      if (to) std::fill_n(to, boxes.numel(), T(0));
      if (beside) std::fill_n(beside, variances.numel(), T(0));
      return;
    }
    grid.write(context, boxes ? boxes.shape() : variances.shape(), variance, clip ? PriorClip::All : PriorClip::None,
               to, beside);
  }
};

void infer_prior_box(InferContext& c) {
  require_tensors(c);
  require_rank(c, "Input", 4);
  require_rank(c, "Image", 4);
  require_same_dtype(c, "Input", "Image");
  require_four_variances(c);
  for (const char* name : {"min_sizes", "max_sizes", "aspect_ratios"}) require_positive_numbers(c, name);
  const auto &least = c.attr<std::vector<float>>("min_sizes"), &most = c.attr<std::vector<float>>("max_sizes");
  require<ProgramError>(!least.empty(), "attribute 'min_sizes' is empty");
  require<ProgramError>(most.empty() || most.size() == least.size(), "attribute 'max_sizes' has ", most.size(),
                        " numbers, 'min_sizes' has ", least.size());
  for (size_t i = 0; i < most.size(); ++i) {
    require<ProgramError>(most[i] > least[i], "attribute 'max_sizes' holds ", most[i], ", it must be larger than ",
                          least[i], ", the number of 'min_sizes'");
  }
  const Shape& input = c.shape("Input");
  int64_t count = static_cast<int64_t>(prior_ratios(c).size() * least.size() + most.size());
  Shape out{input[2], input[3], count, 4};
  c.set_output("Boxes", c.input("Input").dtype, out);
  c.set_output("Variances", c.input("Input").dtype, out);
}

}  // namespace

void define_prior_box(OpTable& ops) {
  ops.add(prior_boxes(
      OpSchema("prior_box")
          .doc("Around the center of every cell of Input, boxes of min_sizes with every one of aspect_ratios, and "
               "squares of the geometric mean of min_sizes and max_sizes, as parts of the size of Image. Liu et al. "
               "2016, SSD.")
          .required_attr("min_sizes", AttrType::Floats, "sizes of boxes, in pixels of Image")
          .attr("max_sizes", std::vector<float>{}, "larger sizes, one for each of min_sizes; empty: no such squares")
          .attr("aspect_ratios", std::vector<float>{}, "width by height of boxes, besides 1")
          .attr("variances", std::vector<float>{}, "four numbers that are written beside each box")
          .attr("flip", true, "whether there is a box of the inverse of each ratio too")
          .attr("clip", true, "whether boxes are clipped to the image")
          .attr("min_max_aspect_ratios_order", false,
                "whether the larger square comes second, not last, among the boxes of a size")
          .output("Boxes", "[rows, columns, boxes, 4]: left, top, right, bottom")
          .infer(infer_prior_box)
          .kernels<PriorBoxKernel, float, double>()));
}

}  // namespace paddle_mini
