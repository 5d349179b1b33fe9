// Regions: rectangles of images, as roi_align, roi_pool and psroi_pool read them.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/op_table.h"
#include "math/sequences.h"

namespace paddle_mini {

// The boundaries of groups of rows, one for each image: by their counts, the variable at `port`, or else by the lod.
// Throws OpError unless the counts add up to the rows.
Offsets rows_of_images(const Tensor& rows, const Variable* counts, const char* port);

// The ports ROIs and RoisNum of a kernel: boxes left, top, right, bottom, and the image of each.
template <class T>
struct Regions {
  In<T> boxes;
  const Variable* counts;
  Scratch<int64_t> images;
  float scale;
  int64_t count;

  explicit Regions(KernelInit& init)
      : boxes(init, "ROIs"), counts(init.input("RoisNum")), images(init, boxes.shape()[0]),
        scale(init.attr<float>("spatial_scale")), count(boxes.shape()[0]) {}

  // Reads the images of this run's regions. Throws OpError for counts that do not fit, and for coordinates that are not
  // numbers or so large that no integer has them as a pixel.
  void refresh() {
    for (int64_t i = 0; i < count * 4; ++i) {
      double at = static_cast<double>(boxes[i]) * static_cast<double>(scale);
      require<OpError>(std::abs(at) <= 1 << 30, "ROIs has ", boxes[i], " in row ", i / 4,
                       ": times spatial_scale, a coordinate must be a number of at most 2^30");
    }
    const Offsets offsets = rows_of_images(boxes.variable().tensor, counts, "RoisNum");
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      std::fill(images.data() + offsets[i], images.data() + offsets[i + 1], static_cast<int64_t>(i));
    }
  }
};

// The schema of an operator on X, ROIs and RoisNum, with the size of its output.
OpSchema regions_schema(const char* type);
// Checks these ports, and returns the number of regions.
int64_t infer_regions(const InferContext& c);
// Throws unless rows, which a port has, are in sequences or counted by the port `counts`, and returns the number of
// groups.
int64_t infer_groups(const InferContext& c, const char* port, const char* counts);

}  // namespace paddle_mini
