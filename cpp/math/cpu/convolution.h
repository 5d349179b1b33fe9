// Convolution of images on a CPU.
#pragma once

#include "core/parallel.h"
#include "core/stored_parts.h"
#include "math/cpu/channel_panels.h"
#include "math/cpu/depthwise.h"
#include "math/cpu/image_lanes.h"
#include "math/cpu/image_lanes_gradient.h"
#include "math/cpu/patch_products.h"
#include "math/cpu/patches.h"
#include "math/cpu/pointwise.h"
#include "math/cpu/winograd.h"

#include <optional>

namespace paddle_mini {

// Direct convolution: products with patches that are never written to memory (see PatchGrid), with sums in registers: a
// few filters times two registers of neighbouring pixels. The gradient of the image has the same form: pixels with the
// same offset modulo the stride use the same subset of the taps, in reversed order. If that leaves too many lanes of
// registers idle, or reads far more taps than there are windows, PatchProducts computes the products, or lanes of images do if
// there are enough of them.
template <class T>
class Convolution {
 public:
  Convolution(KernelInit& init, const ConvolutionSizes& sizes, bool gradients);

  void run(KernelContext&, const T* image, const T* filter, T* out);  // adds all parts of `out` to StoredParts
  void input_gradient(KernelContext&, const T* filter, const T* out_gradient, T* image_gradient);
  void filter_gradient(KernelContext&, const T* image, const T* out_gradient,
                       T* filter_gradient);  // filter_gradient.cc

 private:
  using Grid = PatchGrid<T>;

  // One product: results [images, rows, pixels of the grid] = factors [rows, channels, taps] patches
  struct Product {
    Grid grid;
    int64_t channels, rows, in_plane, out_plane;
    std::vector<int64_t> taps;  // indices in one channel's filter
    int64_t row_step, channel_step;  // filter strides
    int64_t pixel_step, first;       // result stride and offset
  };

  void add_input_gradients();
  void choose_lanes(KernelInit& init, bool gradients);
  void choose_patches(bool gradients);
  void add_scratch(KernelInit& init, bool gradients);
  bool choose_own_class(KernelInit& init);
  void multiply(KernelContext& context, const Product& product, const T* image, const T* filter, T* out);
  void pack_factors(KernelContext& context, const Product& product, const T* filter, T* to) const;
  void multiply_region(StoredParts<T>& stored, const LastSteps<T>& steps, int64_t group, const Product& product,
                       const typename Grid::Region& region, const T* factors, const T* patches, int64_t slice,
                       int64_t slices, T* out) const;
  void store(const Product& product, const typename Grid::Slots& slots, size_t slot, const T* values, T* out) const;
  void pack_outputs(const T* out, const typename Grid::Region& region, int64_t channels, T* panel) const;
  void add_filter_gradient(const typename Grid::Region& region, int64_t outs, int64_t taps, const T* patches,
                           const T* panel, T* filter_gradient) const;
  void filter_gradient_part(int64_t group, int64_t c, int64_t first_out, int64_t end_out, int lane, const T* image,
                            const T* out_gradient, T* filter_gradient);

  ConvolutionSizes s_;
  Product forward_;
  std::vector<Product> input_gradients_;
  bool every_pixel_seen_ = true;
  int64_t channels_at_once_, outs_at_once_;  // sizes of a block in filter_gradient
  Grid filter_grid_;
  bool patches_forward_ = false, patches_by_input_ = false, patches_by_filter_ = false;  // true: by patch_products_
  std::optional<PatchProducts<T>> patch_products_;
  std::optional<ImageLanes<T>> lanes_forward_, lanes_by_input_;
  std::optional<ImageLanesGradient<T>> lanes_by_filter_;
  std::optional<PointwiseConvolution<T>> pointwise_;  // if it fits
  std::optional<DepthwiseConvolution<T>> depthwise_;  // if it fits
  std::optional<WinogradConvolution> winograd_;
  std::optional<ChannelPanels<T>> channel_panels_;
  std::optional<PackedInput<T>> factors_;  // unless another class computes the products
  LaneScratch<T> patches_, outs_;
};

// Products in tiles, with sums in float32 that are rounded once: of filters and patches, which are packed from the image
// when they are multiplied. Where these do not fit, or the process has no tiles, the convolution is one of float32.
template <>
class Convolution<BFloat16> {
 public:
  Convolution(KernelInit& init, const ConvolutionSizes& sizes, bool gradients);

  void run(KernelContext&, const BFloat16* image, const BFloat16* filter, BFloat16* out);
  void input_gradient(KernelContext&, const BFloat16* filter, const BFloat16* out_gradient, BFloat16* image_gradient);
  void filter_gradient(KernelContext&, const BFloat16* image, const BFloat16* out_gradient, BFloat16* filter_gradient);

 private:
  // The convolution of float32, with copies of its operands.
  struct Wide {
    Convolution<float> convolution;
    Scratch<float> image, filter, out;
  };

  ConvolutionSizes s_;
  bool forward_, by_input_, by_filter_;  // whether these are in tiles
  std::optional<Scratch<BFloat16>> filters_;  // [groups, in_channels, out_channels, window], for input_gradient
  std::optional<Wide> wide_;
};

}  // namespace paddle_mini
