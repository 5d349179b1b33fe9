// PriorGrid: boxes of the same sizes around every cell of a feature map, as prior_box, density_prior_box and anchor_generator make them.
#pragma once

#include <utility>
#include <vector>

#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {

enum class PriorClip { None, FarSides, All };  // FarSides: left and top are at least 0, right and bottom at most 1

// Sizes in units of the result; `half` has half the width and height of each box.
struct PriorGrid {
  std::vector<std::pair<double, double>> half;
  std::vector<std::pair<double, double>> moved;  // the center of each box from that of its cell; empty: no box is
  double first_x = 0, first_y = 0;  // the center of the first cell
  double step_x = 0, step_y = 0;  // between cells
  double unit_x = 1, unit_y = 1;  // what the boxes are divided by

  // For prior boxes, which are parts of the size of an image; both have elements.
  void set_cells(const KernelInit& init, const Shape& input, const Shape& image) {
    unit_x = static_cast<double>(image[3]), unit_y = static_cast<double>(image[2]);
    double across = init.attr<float>("step_w"), down = init.attr<float>("step_h");
    bool given = across != 0 && down != 0;
    step_x = given ? across : unit_x / static_cast<double>(input[3]);
    step_y = given ? down : unit_y / static_cast<double>(input[2]);
    double offset = init.attr<float>("offset");
    first_x = offset * step_x, first_y = offset * step_y;
  }

  // Writes boxes [rows, columns, boxes, 4] and the variances beside them.
  template <class T>
  void write(KernelContext& context, const Shape& shape, const std::vector<float>& variances, PriorClip clip, T* boxes,
             T* beside) const {
    int64_t count = shape[2];
    each_item(context, {shape[0] * shape[1], 10.0 * static_cast<double>(count)}, [&](int64_t cell) {
      double x = first_x + step_x * static_cast<double>(cell % shape[1]);
      double y = first_y + step_y * static_cast<double>(cell / shape[1]);
      for (int64_t b = 0; b < count; ++b) {
        auto [width, height] = half[static_cast<size_t>(b)];
        auto [right, down] = moved.empty() ? std::pair<double, double>() : moved[static_cast<size_t>(b)];
        double sides[4] = {(x + right - width) / unit_x, (y + down - height) / unit_y, (x + right + width) / unit_x,
                           (y + down + height) / unit_y};
        for (int64_t k = 0; k < 4; ++k) {
          int64_t at = (cell * count + b) * 4 + k;
          if (clip == PriorClip::All || (clip == PriorClip::FarSides && k < 2)) sides[k] = std::max(sides[k], 0.0);
          if (clip == PriorClip::All || (clip == PriorClip::FarSides && k >= 2)) sides[k] = std::min(sides[k], 1.0);
          if (boxes) boxes[at] = static_cast<T>(sides[k]);
          if (beside) beside[at] = static_cast<T>(variances[static_cast<size_t>(k)]);
        }
      }
    });
  }
};

// Declares the cells, which set_cells reads, and what else all prior boxes have.
inline OpSchema prior_boxes(OpSchema schema) {
  schema.attr("step_w", 0.0f, "pixels between columns; if it or step_h is 0: Image's size by Input's, for both")
      .attr("step_h", 0.0f, "pixels between rows")
      .attr("offset", 0.5f, "the center of the first cell, in cells")
      .shape_input("Input", "[images, channels, rows, columns]: the feature map")
      .shape_input("Image", "[images, channels, height, width]")
      .output("Variances", "shape of Boxes: variances")
      .no_gradient("its boxes do not depend on data")
      .cpu_only("its sizes are lists, which no launcher passes");
  return schema;
}

inline void require_four_variances(const InferContext& c) {
  const auto& variances = c.attr<std::vector<float>>("variances");
  require<ProgramError>(variances.size() == 4, "attribute 'variances' has ", variances.size(),
                        " numbers, it must have 4");
  for (float v : variances) require<ProgramError>(v > 0, "attribute 'variances' holds ", v, ", it must be positive");
}

inline void require_positive_numbers(const InferContext& c, const char* name) {
  for (float number : c.attr<std::vector<float>>(name)) {
    require<ProgramError>(number > 0, "attribute '", name, "' holds ", number, ", it must be positive");
  }
}

}  // namespace paddle_mini
