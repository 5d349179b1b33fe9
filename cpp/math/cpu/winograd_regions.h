// WinogradRegions: which tiles of 2x2 outputs are transformed and multiplied together.
#pragma once

#include "core/stored_parts.h"
#include "math/convolution_sizes.h"
#include "math/cpu/winograd_tiles.h"

#include <algorithm>

namespace paddle_mini::winograd {

inline int64_t rounded(int64_t size, int64_t unit) { return parts_of(size, unit) * unit; }

// Tiles that are transformed together: of several images, or some rows and columns of one.
struct Region {
  int64_t image, images, y, rows, x, columns;
};

// Tiles that are multiplied together, counted in the region: a part of a row, or several rows; `row` counts through all
// images, and `place` is that of the first tile in a plane.
struct Block {
  int64_t first, row, rows, x, columns, place;
  int64_t tiles() const { return rows * columns; }
};

class WinogradRegions {
 public:
  WinogradRegions() = default;
  // Regions of at most `most` tiles, of nearly equal size.
  WinogradRegions(const ConvolutionSizes& s, int64_t most)
      : all_images_(s.images), all_rows_((s.height.out + 1) / 2), all_columns_((s.width.out + 1) / 2) {
    columns_ = parts_of(all_columns_, parts_of(all_columns_, most));
    rows_ = parts_of(all_rows_, parts_of(all_rows_, std::max<int64_t>(most / columns_, 1)));
    const bool is_whole = rows_ == all_rows_ && columns_ == all_columns_;
    images_ = is_whole ? std::clamp<int64_t>(most / (rows_ * columns_), 1, std::max<int64_t>(all_images_, 1)) : 1;
  }

  // Sizes of the largest region.
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t tiles() const { return images_ * rows_ * columns_; }
  int64_t places() const { return images_ * rows_ * pitch(columns_); }

  // From a row of tiles to the next one in a plane. Stores of registers that begin with a cache line are faster.
  static int64_t pitch(int64_t columns) { return columns <= kMostTiles / 2 ? columns : rounded(columns, kLanes / 2); }

  int64_t count() const {
    return parts_of(all_images_, images_) * parts_of(all_rows_, rows_) * parts_of(all_columns_, columns_);
  }
  Region region(int64_t i) const {
    const int64_t across = parts_of(all_columns_, columns_), down = parts_of(all_rows_, rows_);
    const int64_t x = i % across * columns_, y = i / across % down * rows_, image = i / across / down * images_;
    return {image, std::min(images_, all_images_ - image), y, std::min(rows_, all_rows_ - y),
            x,     std::min(columns_, all_columns_ - x)};
  }

  // Calls f(block) for blocks of nearly equal size.
  template <class F>
  static void each_block(const Region& region, F f) {
    const int64_t rows = region.images * region.rows, columns = region.columns, step = pitch(columns);
    if (columns <= kMostTiles / 2) {
      paddle_mini::each_block(rows, kMostTiles / columns, [&](int64_t row, int count) {
        f(Block{row * columns, row, count, 0, columns, row * columns});
      });
      return;
    }
    for (int64_t row = 0; row < rows; ++row) {
      paddle_mini::each_block(columns, kMostTiles, [&](int64_t x, int count) {
        f(Block{row * columns + x, row, 1, x, count, row * step + x});
      });
    }
  }

 private:
  int64_t all_images_ = 0, all_rows_ = 0, all_columns_ = 0, images_ = 1, rows_ = 1, columns_ = 1;
};

// The outputs of a region: some channels, the first of which has that number.
struct Outputs {
  float* first;
  int64_t channels, number;
  const LastSteps<float>& steps;
};

// Adds the pixels of the region's tiles, which are complete.
inline void add_results(const ConvolutionSizes& s, const Region& region, const Outputs& outputs,
                        StoredParts<float>& stored) {
  if (!stored.are_wanted()) return;
  const int64_t rows = std::min(2 * region.rows, s.height.out - 2 * region.y);
  const int64_t columns = std::min(2 * region.columns, s.width.out - 2 * region.x);
  for (int64_t image = 0; image < region.images; ++image) {
    for (int64_t c = 0; c < outputs.channels; ++c) {
      const float* at =
          outputs.first + image * s.out_size() + c * s.pixels() + 2 * region.y * s.width.out + 2 * region.x;
      if (columns == s.width.out) stored.add(at, rows * columns);
      else
        for (int64_t y = 0; y < rows; ++y) stored.add(at + y * s.width.out, columns);
    }
  }
}

}  // namespace paddle_mini::winograd
