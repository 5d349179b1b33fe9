// PatchProducts: the products of a convolution, from patches of the image that are packed into panels.
#pragma once

#include "core/parallel.h"
#include "core/stored_parts.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/patch_tiles.h"

namespace paddle_mini {

// Matrix products whose im2col operand is never materialized as a whole. The output pixels of all images are processed
// in tiles as wide as two registers: the inputs of all taps of a tile are copied to a panel [taps, tile] that stays in
// the cache, then multiplied by a few filters at a time, with sums in registers (Goto & van de Geijn 2008, with the
// patches of the image as the packed operand).
template <class T>
class PatchProducts {
 public:
  PatchProducts(KernelInit& init, const ConvolutionSizes& sizes, const ConvolutionResults& results);

  // The cost of packing one tap of a tile, in filters that could be multiplied with it in that time.
  static constexpr int64_t kForwardCopy = 20;

  void run(KernelContext& context, const T* image, const T* filter, T* out);
  void input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient);

 private:
  static constexpr int kTile = PatchTiles<T>::kTile;

  void pack_filters(KernelContext& context, const T* filter, T* to) const;
  int64_t slices_of_outputs(int threads) const;
  // A group of tiles, and the slices [first, last] of `count` slices of the output channels.
  struct Slices {
    int64_t tiles, first, last, count;
  };
  void multiply_slices(StoredParts<T>& stored, const Slices& slices, const T* image, int64_t group, const T* filter,
                       T* columns, T* out) const;
  void add_results(StoredParts<T>& stored, int64_t pixel, int64_t pixels, int64_t channel, int count,
                   const T* out) const;
  template <class F>
  void each_group_and_channels(KernelContext& context, F f);

  ConvolutionSizes s_;
  PatchTiles<T> tiles_;
  PackedInput<T> filter_;
  LaneScratch<T> columns_, outs_;  // panels of a group of tiles
};

extern template class PatchProducts<float>;
extern template class PatchProducts<double>;

}  // namespace paddle_mini
