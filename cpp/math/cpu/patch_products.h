// PatchProducts: the products of a convolution, from patches of the image that are packed into panels.
#pragma once

#include "core/parallel.h"
#include "math/convolution_sizes.h"
#include "math/vec.h"

namespace paddle_mini {

// Matrix products whose im2col operand is never materialized as a whole. The output pixels of all images are processed
// in tiles as wide as two registers: the inputs of all taps of a tile are copied to a panel [taps, tile] that stays in
// the cache, then multiplied by a few filters at a time, with sums in registers (Goto & van de Geijn 2008, with the
// patches of the image as the packed operand).
template <class T>
class PatchProducts {
 public:
  PatchProducts(KernelInit& init, const ConvolutionSizes& sizes, bool gradients);

  void run(KernelContext& context, const T* image, const T* filter, T* out);
  void input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient);
  void filter_gradient(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient);

 private:
  static constexpr int kTile = 2 * Vec<T>::size;
  static constexpr int64_t kMostTiles = 4;

  // One element of a filter: its offset from the window's corner in the first channel.
  struct Tap {
    int64_t y, x, offset;
  };
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

  Tile tile_at(int64_t first) const;
  int64_t tile_groups() const { return (tiles_ + tiles_at_once_ - 1) / tiles_at_once_; }
  template <class F>
  void each_tile_group(int64_t begin, int64_t end, F f) const;
  template <class F>
  void each_group_and_channels(KernelContext& context, F f);
  void pack_columns(const T* image, int64_t tap, int64_t end_tap, int64_t group, const Tile& tile, T* panel) const;
  void sum_over_tiles(const T* image, const T* out_gradient, int64_t tap, int64_t end_tap, int64_t group, int lane);
  void copy_outputs(const T* out, int64_t channel, const Tile& tile, T* to) const;
  void pack_outputs(const T* out, int64_t group, const Tile& tile, T* panel) const;
  void pack_outputs_by_pixel(const T* out, int64_t group, const Tile& tile, T* panel) const;
  void store_outputs(const T* rows, int64_t channel, int row_count, int64_t group, const Tile& tile, T* out) const;
  void add_columns(const T* rows, int64_t tap, int row_count, int64_t group, const Tile& tile, T* image) const;

  ConvolutionSizes s_;
  std::vector<Tap> taps_;
  int64_t tiles_, tiles_at_once_;
  bool padded_;
  int64_t padded_outs_;  // out_channels, rounded up to full tiles
  Scratch<T> filter_, sums_;
  LaneScratch<T> columns_, outs_;  // panels of tiles_at_once_ tiles
};

extern template class PatchProducts<float>;
extern template class PatchProducts<double>;

}  // namespace paddle_mini
