// WinogradConvolution: 3x3 convolution with stride 1 in fewer products, for filters that the program never writes.
#pragma once

#include "core/parallel.h"
#include "core/stored_parts.h"
#include "math/convolution_sizes.h"
#include "math/cpu/patches.h"

namespace paddle_mini {

// F(2x2, 3x3) of Lavin and Gray 2016: a tile of 2x2 outputs takes 16 products instead of 36. Tiles of 4x4 inputs are
// transformed to 16 planes, in each of which channels are multiplied with transformed filters; the transforms consist of
// sums. In float32 the error does not exceed that of sums over all taps, because fewer terms are added. An infinity or
// NaN in the input spreads to all outputs of its tiles.
class WinogradConvolution {
 public:
  WinogradConvolution(KernelInit& init, const ConvolutionSizes& sizes);

  bool fits() const { return kept_ != nullptr; }
  void run(KernelContext& context, const float* image, const float* filter, float* out);

 private:
  using Grid = PatchGrid<float>;
  static constexpr int kPlanes = 16, kLanes = Vec<float>::size, kWidth = 2 * kLanes;

  // Scratch memory of one thread.
  struct Memory {
    float *inputs, *planes, *products;
  };
  static bool is_faster(const ConvolutionSizes& sizes);
  static Grid grid_of_tiles(const ConvolutionSizes& sizes);
  int64_t tiles(const Grid::Region& region) const;
  int64_t plane_step() const { return s_.in_channels * most_tiles_ + kLanes; }
  int64_t panels() const { return (s_.out_channels + kWidth - 1) / kWidth; }
  int64_t padded_outs() const { return (s_.out_channels + kLanes - 1) / kLanes * kLanes; }
  void pack(KernelContext& context, const float* filter, float* to) const;
  void transform_inputs(const float* image, const Grid::Region& region, const Memory& memory) const;
  void multiply(const Grid::Region& region, const float* panel, int64_t channels, const Memory& memory) const;
  void transform_outputs(const Grid::Region& region, int64_t channels, const float* products, float* out) const;
  void add_results(StoredParts<float>& stored, const Grid::Region& region, int64_t channels, const float* out) const;

  ConvolutionSizes s_;
  Grid grid_;
  int64_t most_tiles_ = 0;  // in the largest region
  std::vector<int64_t> channel_offsets_;
  std::shared_ptr<PackedStore::Copy> kept_;
  LaneScratch<float> inputs_, planes_, products_;
};

}  // namespace paddle_mini
