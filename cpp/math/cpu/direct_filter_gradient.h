// DirectFilterGradient: the gradient of a convolution by its filters, from patches that are never written to memory.
#pragma once

#include "core/parallel.h"
#include "math/convolution_sizes.h"
#include "math/cpu/patches.h"

namespace paddle_mini {

// Products of the gradients of outputs with the patches of a few channels. Sums stay in registers: a few filters times a few
// taps, with neighbouring pixels in the lanes.
template <class T>
class DirectFilterGradient {
 public:
  using Grid = PatchGrid<T>;

  static Grid grid_of(const ConvolutionSizes& sizes);
  DirectFilterGradient(KernelInit& init, const ConvolutionSizes& sizes, Grid grid);

  void run(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient);

 private:
  static int64_t channels_at_once(const ConvolutionSizes& s) { return std::clamp<int64_t>(s.in_channels, 1, 32); }
  void pack_outputs(const T* out, const typename Grid::Region& region, int64_t channels, T* panel) const;
  void add_region(const typename Grid::Region& region, int64_t outs, int64_t taps, const T* patches, const T* panels,
                  T* filter_gradient) const;
  void add_part(int64_t group, int64_t c, int64_t first_out, int64_t end_out, int lane, const T* image,
                const T* out_gradient, T* filter_gradient);

  ConvolutionSizes s_;
  int64_t channels_at_once_, outs_at_once_;
  Grid grid_;
  LaneScratch<T> patches_, outs_;
};

extern template class DirectFilterGradient<float>;
extern template class DirectFilterGradient<double>;

}  // namespace paddle_mini
