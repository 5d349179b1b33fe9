// Regions: rectangles of images, as roi_align, roi_pool and psroi_pool read them.
#pragma once

#include <cmath>
#include <optional>

#include "core/op_table.h"
#include "math/sequences.h"

namespace paddle_mini {

// The boundaries of groups of rows by their counts, the port RoisNum; throws OpError unless these add up to `rows`.
class CountedRows {
 public:
  CountedRows(const KernelInit& init, const char* port) : counts_(init, port), port_(port) {}
  // Calls f(group, first row, end) for each group.
  template <class F>
  void each(int64_t rows, F f) const {
    check(rows);
    for (int64_t group = 0, begin = 0; group < counts_.numel(); begin += counts_[group++]) {
      f(group, begin, begin + counts_[group]);
    }
  }
  void check(int64_t rows) const;

 private:
  IndexIn counts_;
  const char* port_;
};

// The ports ROIs and RoisNum of a kernel: boxes left, top, right, bottom, and the image of each.
template <class T>
struct Regions {
  In<T> boxes;
  std::optional<CountedRows> counts;
  Scratch<int64_t> images;
  float scale;
  int64_t count;

  explicit Regions(KernelInit& init)
      : boxes(init, "ROIs"), images(init, boxes.shape()[0]), scale(init.attr<float>("spatial_scale")),
        count(boxes.shape()[0]) {
    if (init.input("RoisNum")) counts.emplace(init, "RoisNum");
  }

  // Reads the images of this run's regions. Throws OpError for counts that do not fit, and for coordinates that are not
  // numbers or so large that no integer has them as a pixel.
  void refresh() {
    for (int64_t i = 0; i < count * 4; ++i) {
      double at = static_cast<double>(boxes[i]) * static_cast<double>(scale);
      require<OpError>(std::abs(at) <= 1 << 30, "ROIs has ", boxes[i], " in row ", i / 4,
                       ": times spatial_scale, a coordinate must be a number of at most 2^30");
    }
    auto set = [&](int64_t image, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) images[i] = image;
    };
    if (counts) return counts->each(count, set);
    const Offsets& offsets = offsets_of(&boxes.variable());
    for (size_t i = 0; i + 1 < offsets.size(); ++i) set(static_cast<int64_t>(i), offsets[i], offsets[i + 1]);
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
