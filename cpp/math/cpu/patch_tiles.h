// PatchTiles: the output pixels of a convolution in tiles, and the panels that are packed for one.
#pragma once

#include <algorithm>
#include <vector>

#include "math/convolution_sizes.h"
#include "math/vec.h"

namespace paddle_mini {

// The output pixels of all images, in tiles as wide as two registers. A panel holds, for each pixel of a tile, the
// inputs of its taps ("columns", as of an im2col matrix) or its outputs.
template <class T>
class PatchTiles {
 public:
  static constexpr int kTile = 2 * Vec<T>::size;

  // Output pixels of one row of one image that belong to a tile, from its position `at` on.
  struct Run {
    int64_t image, pixel;  // pixel: index in its image
    int64_t y, x, offset;  // the window's corner; offset: in all images
    int at, count;
  };
  struct Tile {
    Run runs[kTile];
    int run_count, pixel_count;
  };

  explicit PatchTiles(const ConvolutionSizes& sizes);

  int64_t count() const { return count_; }
  int64_t at_once() const { return at_once_; }  // tiles of a group, whose panels stay in the cache
  int64_t groups() const { return (count_ + at_once_ - 1) / at_once_; }

  // Calls f(tiles, count) for the groups [begin, end).
  template <class F>
  void each_group(int64_t begin, int64_t end, F f) const {
    Tile tiles[kMostAtOnce];
    for (int64_t first = begin * at_once_; first < std::min(end * at_once_, count_); first += at_once_) {
      int64_t count = std::min(at_once_, count_ - first);
      for (int64_t t = 0; t < count; ++t) tiles[t] = tile_at((first + t) * kTile);
      f(tiles, count);
    }
  }

  // panel [taps, tile], of the taps [tap, end_tap) of a group of channels
  void pack_columns(const T* image, int64_t tap, int64_t end_tap, int64_t group, const Tile& tile, T* panel) const;
  // The inverse: adds rows [row_count, tile] to the elements of the image that they were read from.
  void add_columns(const T* rows, int64_t tap, int row_count, int64_t group, const Tile& tile, T* image) const;
  void pack_outputs(const T* out, int64_t group, const Tile& tile, T* panel) const;  // panel [out_channels, tile]
  void store_outputs(const T* rows, int64_t channel, int row_count, int64_t group, const Tile& tile, T* out) const;

 private:
  static constexpr int64_t kMostAtOnce = 4;

  // One element of a filter: its offset from the window's corner in the first channel.
  struct Tap {
    int64_t y, x, offset;
  };

  Tile tile_at(int64_t first) const;
  void copy_outputs(const T* out, int64_t channel, const Tile& tile, T* to) const;

  ConvolutionSizes s_;
  std::vector<Tap> taps_;
  bool padded_;
  int64_t count_, at_once_;
};

extern template class PatchTiles<float>;
extern template class PatchTiles<double>;

}  // namespace paddle_mini
