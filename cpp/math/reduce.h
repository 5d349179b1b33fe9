// Reduction: sums over some axes of a tensor.
#pragma once

#include <array>
#include <vector>

#include "core/kernel.h"

namespace paddle_mini {

// The axes of a reduction, from PaddlePaddle's attributes `dim` and `reduce_all`; an empty `dim` means all.
std::vector<bool> reduced_axes(int rank, const std::vector<int32_t>& dim, bool reduce_all);
Shape reduced_shape(const Shape& x, const std::vector<bool>& reduced, bool keep_dim);

// The loops of a reduction; adjacent axes that are all reduced, or all kept, are merged.
class Reduction {
 public:
  Reduction(const Shape& x, const std::vector<bool>& reduced);

  // out = sum of x over the reduced axes, times `scale`.
  template <class T>
  void sum(KernelContext& context, T scale, const T* x, T* out) const;
  // out[i] = scale * y[j], where j is the element that i was reduced to: the gradient of a sum.
  template <class T>
  void spread(KernelContext& context, T scale, const T* y, T* out) const;

  int64_t reduced_count() const { return reduced_count_; }  // elements per result

 private:
  struct Dim {
    int64_t size;
    bool reduced;
    int64_t out_step;
    std::array<int64_t, 1> steps() const { return {out_step}; }
  };
  int64_t rows() const { return inner_.size ? numel_ / inner_.size : 0; }

  std::vector<Dim> outer_;
  Dim inner_{1, false, 1};
  int64_t numel_ = 1, out_numel_ = 1, reduced_count_ = 1;
};

}  // namespace paddle_mini
