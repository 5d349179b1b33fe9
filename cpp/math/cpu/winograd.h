// WinogradConvolution: 3x3 convolution with stride 1 in fewer products.
#pragma once

#include "core/parallel.h"
#include "math/cpu/filter_order.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/winograd_regions.h"

#include <optional>
#include <vector>

namespace paddle_mini {

// Whether the shape is one for which this is faster than all products.
bool suits_winograd(const ConvolutionSizes& sizes);

// F(2x2, 3x3) of Lavin and Gray 2016: a tile of 2x2 outputs takes 16 products instead of 36. Tiles of 4x4 inputs are
// transformed to 16 planes, in each of which channels are multiplied with transformed filters; the transforms consist of
// sums. In float32 the error does not exceed that of sums over all taps, because fewer terms are added. An infinity or
// NaN in the input spreads to all outputs of its tiles.
class WinogradConvolution {
 public:
  WinogradConvolution(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order);

  bool fits() const { return packed_.has_value(); }
  void run(KernelContext& context, const float* image, const float* filter, float* out);

 private:
  using Region = winograd::Region;
  // Two registers of output channels, or one; their filters, products and outputs.
  struct Panel {
    const float* filters;
    int64_t width;
    float* products;
    winograd::Outputs outputs;
  };
  struct Channels {
    int64_t first, count;
  };
  // Scratch memory of one thread.
  struct Memory {
    float *inputs, *planes, *filters, *products;
  };
  // Which loop is the outermost in a region: that over panels, with all planes; over blocks of one panel; or over planes,
  // with all panels, so that filters from slow memory are read for many tiles. If all tiles are one region, every filter
  // is read once, so that of many filters the taps are kept: transformed ones have 16/9 of the bytes.
  enum class Order { ByPanel, ByBlock, ByPlane, Taps };
  void choose_order();
  int64_t panels() const;
  int64_t padded_outs() const;
  int64_t products_of_panel() const;
  int64_t panel_elements(int64_t channels) const;
  void pack(KernelContext& context, const float* filter, float* to) const;
  Panel panel(const Region& region, int64_t group, int64_t i, const float* filters, float* products, float* out,
              const LastSteps<float>& steps) const;
  void transform_inputs(const float* image, const Region& region, const Memory& memory) const;
  void compute_by_block(const Region& region, const Panel& panel, const Memory& memory) const;
  void multiply_taps(const Region& region, const Panel& panel, const Memory& memory) const;
  void compute_panels(const Region& region, const Panel* first, const Panel* end, const Memory& memory) const;
  void multiply(const winograd::Block& block, const Panel& panel, int64_t p, const float* factors, const Channels& part,
                const float* ahead, const Memory& memory) const;

  ConvolutionSizes s_;
  FilterOrder filter_order_;
  winograd::WinogradRegions regions_;
  int64_t most_tiles_ = 0, plane_step_ = 0, input_pitch_ = 0;
  Order order_ = Order::ByPanel;
  std::optional<PackedInput<float>> packed_;
  LaneScratch<float> inputs_, planes_, filters_, products_;
};

}  // namespace paddle_mini
