// ChannelPanels: the products of a convolution with registers of output channels.
#pragma once

#include <optional>

#include "core/parallel.h"
#include "math/cpu/filter_order.h"
#include "math/cpu/last_steps.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/patches.h"

namespace paddle_mini {

// A few pixels times two registers of neighbouring output channels stay in registers, so that no lane is idle on small
// images. Filters are packed into panels [taps, channels]; the inputs are those of a
// PatchGrid's region, one number at a time. Filters of one pixel, whose planes are one row (Convolution), read the image
// where it lies. Sums run over channels and taps in the order of DirectConvolution.
template <class T>
class ChannelPanels {
 public:
  ChannelPanels(KernelInit& init, const ConvolutionSizes& sizes, const FilterOrder& order);

  // Whether the shape is one for which this is faster than registers of pixels.
  bool fits() const { return filters_.has_value(); }
  void run(KernelContext& context, const T* image, const T* filter, T* out);

 private:
  using Region = typename PatchGrid<T>::Region;
  static bool is_faster(const ConvolutionSizes& sizes);
  static constexpr int kWidth = 2 * Vec<T>::size;  // channels of a panel; the last one has a register if that suffices

  // Neighbouring pixels of a row, or as many of each of two rows: where their inputs and outputs begin.
  struct Block {
    int64_t left, right, to, right_to;
    int count, rows;
  };
  int64_t panels() const { return (s_.out_channels + kWidth - 1) / kWidth; }
  int64_t padded_outs() const { return (s_.out_channels + Vec<T>::size - 1) / Vec<T>::size * Vec<T>::size; }
  void pack(KernelContext& context, const T* filter, T* to) const;
  std::vector<Block> blocks_of(const Region& region) const;
  // Outputs of a region: some channels, the first of which has that number.
  struct Outputs {
    T* first;
    int64_t channels, number;
    const LastSteps<T>& steps;
  };
  // Rows of a panel of that width, and what is prefetched beside each.
  struct Rows {
    int64_t first, count;
    int width;
    const T* panel;
    const T* ahead;
    int64_t ahead_step;
  };
  static constexpr int64_t kRegisterSums = Vec<T>::size * Vec<T>::size, kBlockSums = 2 * kRegisterSums;
  void multiply_block(const Block& block, const T* inputs, const Rows& rows, T* sums) const;
  void store_block(const Block& block, const T* sums, const Outputs& outputs) const;
  void multiply_panel(const std::vector<Block>& blocks, const T* inputs, const T* panel, const Outputs& outputs,
                      T* sums) const;

  ConvolutionSizes s_;
  FilterOrder order_;
  PatchGrid<T> grid_;
  bool in_place_;  // whether the image is read where it lies
  std::vector<int64_t> channel_offsets_;  // if so, those of its channels
  std::optional<PackedInput<T>> filters_;
  LaneScratch<T> inputs_, sums_;  // sums_: [blocks, registers, pixels, lanes]
};

extern template class ChannelPanels<float>;
extern template class ChannelPanels<double>;

}  // namespace paddle_mini
