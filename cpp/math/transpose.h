// Transposition of a tensor's axes, for any element type.
#pragma once

#include <cstddef>
#include <array>
#include <vector>

#include "core/shape.h"

namespace paddle_mini {

struct KernelContext;

class Transpose {
 public:
  // Axis i of the result is axis order[i] of `in`.
  Transpose(const Shape& in, const std::vector<int>& order, size_t element_bytes);

  void run(KernelContext& context, const void* in, void* out) const;

 private:
  struct Dim {
    int64_t size, in_step, out_step;
    std::array<int64_t, 2> steps() const { return {in_step, out_step}; }
  };

  template <class T>  // uint8_t to uint64_t
  void run_as(KernelContext& context, const T* in, T* out) const;

  std::vector<Dim> outer_;      // dimensions of the result, slowest first
  Dim along_in_{1, 1, 1};       // contiguous elements in the input ...
  Dim along_out_{1, 1, 1};      // ... and in the result; the same axis if the last axis stays last
  bool last_stays_ = true;
  int64_t numel_ = 0;
  size_t element_bytes_;
};

// A permutation of 0 to rank - 1 from attribute values; negative axes count from the end. Throws if it is invalid.
std::vector<int> axes_order(const std::vector<int32_t>& axes, int rank);
std::vector<int> inverse_order(const std::vector<int>& order);
Shape transposed(const Shape& in, const std::vector<int>& order);

}  // namespace paddle_mini
