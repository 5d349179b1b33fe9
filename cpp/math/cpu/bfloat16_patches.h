// PatchRows: the elements that a tap of 32 neighbouring windows reads, as one register. Nothing is copied: a register is
// loaded from the rows of the image that the windows lie in, with zeros for the padding.
#pragma once

#include <vector>

#include "math/convolution_sizes.h"
#include "math/cpu/bfloat16_panels.h"

namespace paddle_mini {

// One axis: tap t of window o reads element (o stride + shifts[t]) / step, if that is an integer in [0, size). A step is the
// stride of a convolution whose gradient this is.
struct PatchRowsAxis {
  int64_t windows, size, stride, step;
  std::vector<int64_t> shifts;

  static PatchRowsAxis forward(const WindowAxis& axis) {
    PatchRowsAxis to{axis.out, axis.size, axis.stride, 1, {}};
    for (int64_t tap = 0; tap < axis.window; ++tap) to.shifts.push_back(tap * axis.dilation - axis.before);
    return to;
  }
  static PatchRowsAxis gradient(const WindowAxis& axis) {
    PatchRowsAxis to{axis.size, axis.out, 1, axis.stride, {}};
    for (int64_t tap = 0; tap < axis.window; ++tap) to.shifts.push_back(axis.before - tap * axis.dilation);
    return to;
  }
};

// The instructions of VBMI2, which every CPU with tiles has, spread elements over a register.
#define PM_SPREADS __attribute__((target("avx512vbmi2")))

class PatchRows {
 public:
  static constexpr int64_t kWindows = 32;

  PatchRows(PatchRowsAxis height, PatchRowsAxis width) : height_(std::move(height)), width_(std::move(width)) {}
  static bool fits(const PatchRowsAxis& width) { return width.stride <= 2; }

  int64_t taps() const { return static_cast<int64_t>(height_.shifts.size() * width_.shifts.size()); }
  int64_t plane() const { return height_.size * width_.size; }
  int64_t windows() const { return height_.windows * width_.windows; }

  // Locates what the taps of the windows from `first` on read.
  void find(int64_t first) {
    parts_.clear(), begins_.clear();
    const int64_t end = std::min(first + kWindows, windows());
    for (int64_t shift_y : height_.shifts) {
      for (int64_t shift_x : width_.shifts) {
        begins_.push_back(parts_.size());
        for (int64_t window = first; window < end;) {
          const int64_t y = window / width_.windows, x = window % width_.windows;
          const int64_t count = std::min(width_.windows - x, end - window);
          add_part(y * height_.stride + shift_y, x, shift_x, window - first, count);
          window += count;
        }
      }
    }
    begins_.push_back(parts_.size());
  }

  // The elements that the tap reads in a channel, after find(). `wide`: the stride is 2; `sparse`: the step is not 1.
  template <bool wide, bool sparse>
  PM_SPREADS __m512i load(const BFloat16* plane, int64_t tap) const {
    __m512i row = _mm512_setzero_si512();
    for (size_t i = begins_[tap], end = begins_[tap + 1]; i < end; ++i) {
      const Part& part = parts_[i];
      const BFloat16* from = plane + part.offset;
      const auto low = static_cast<__mmask32>(part.mask), high = static_cast<__mmask32>(part.mask >> 32);
      if constexpr (sparse) {
        row = _mm512_mask_expandloadu_epi16(row, low, from);
      } else if constexpr (wide) {
        const __m512i left = _mm512_maskz_loadu_epi16(low, from), right = _mm512_maskz_loadu_epi16(high, from + 32);
        // The even elements of both are in the lower halves of pairs.
        const __m512i evens =
            _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(left)), _mm512_cvtepi32_epi16(right), 1);
        row = _mm512_or_si512(row, evens);
      } else {
        row = _mm512_mask_loadu_epi16(row, low, from);
      }
    }
    return row;
  }

  // Calls f(std::bool_constant wide, std::bool_constant sparse).
  template <class F>
  void with_kind(F f) const {
    if (width_.step > 1) f(std::false_type(), std::true_type());
    else if (width_.stride == 2) f(std::true_type(), std::false_type());
    else f(std::false_type(), std::false_type());
  }

 private:
  // Elements from `offset` on. Bit i of the mask: element i is in lane i, or in lane i / 2 if the stride is 2; if the step is
  // not 1, lane i has the next element.
  struct Part {
    int64_t offset;
    uint64_t mask;
  };

  // Adds `count` windows in a row, which are the lanes from `lane` on and whose first one is x.
  void add_part(int64_t y, int64_t x, int64_t shift, int64_t lane, int64_t count) {
    if (y < 0 || y % height_.step != 0 || y / height_.step >= height_.size) return;
    const int64_t row = y / height_.step * width_.size, step = width_.step, stride = width_.stride;
    const int64_t start = x * stride + shift;  // element of the first window, times the step
    int64_t first = 0, last = count;
    if (start < 0) first = (-start + stride - 1) / stride;
    const int64_t room = width_.size * step - start;  // windows `room / stride`, rounded up, end inside of the row
    last = std::min(last, room <= 0 ? 0 : (room + stride - 1) / stride);
    uint64_t mask = 0;
    if (step > 1) {
      while (first < last && (start + first) % step != 0) ++first;
      for (int64_t i = first; i < last; i += step) mask |= uint64_t{1} << (lane + i);
      if (mask) parts_.push_back({row + (start + first) / step, mask});
      return;
    }
    for (int64_t i = first; i < last; ++i) mask |= uint64_t{1} << (lane + i) * stride;
    if (mask) parts_.push_back({row + start - lane * stride, mask});
  }

  PatchRowsAxis height_, width_;
  std::vector<Part> parts_;
  std::vector<size_t> begins_;  // where each tap's parts begin
};

}  // namespace paddle_mini
