// Blocks of products of bfloat16 by vdpbf16ps, which rounds to nearest and takes subnormal numbers as 0 (Intel 64 and IA-32
// Architectures Software Developer's Manual, VDPBF16PS).
#pragma once

#include "math/cpu/bfloat16_panels.h"

namespace paddle_mini {
namespace bfloat16_block {

// Blocks of C in vector registers.
struct Pairs {
  static constexpr int kRows = 14;  // rows of a block: its sums, a row of the panel and a factor fit into 32 registers
  static constexpr double kSpeed = 1;  // against the arithmetic of flops_cost
  static constexpr int64_t kUnit = 2;  // a segment of k is padded to a multiple of this
  static constexpr int64_t kDepth = 1024;  // elements of a segment of k
  static constexpr int64_t kBlock = 1 << 17;  // pairs of a block of B: half of the L2 cache
  static constexpr int64_t kTogether =
      8 * kRows;  // rows that are packed together, in full cache lines if A is transposed
  static constexpr int64_t kTall = 36 * kRows;  // rows whose sums are kept between segments

  // Pairs of a packed block of A.
  static constexpr int64_t packed_rows(int64_t pairs) { return pairs * kLines; }

  // `count` lines of A, packed as a block: a[l * kLines + r] is a pair of row r. `across`: of A transposed.
  static void pack_rows(const BFloat16* from, int64_t ld, bool across, int64_t count, int64_t depth, int64_t pairs,
                        uint32_t* to) {
    if (!across) return pack_along(from, ld, count, depth, pairs, to, kLines);
    const auto there = static_cast<__mmask16>(first_of(count));
    for (int64_t l = 0; l < pairs; ++l)
      _mm512_storeu_si512(to + l * kLines, pair_across(from, ld, there, 2 * l, depth));
  }

  // A packed block of `count` rows times a panel, of which `columns` exist.
  template <class To>
  static void multiply(int64_t count, int64_t pairs, const uint32_t* a, const uint32_t* panel, int64_t columns,
                       const Sums<To>& to) {
    multiply_rows<kRows>(count, pairs, a, panel, columns, to);
  }

 private:
  template <int rows, class To>
  static void multiply_rows(int64_t count, int64_t pairs, const uint32_t* a, const uint32_t* panel, int64_t columns,
                            const Sums<To>& to) {
    if (count == rows) multiply_block<rows>(pairs, a, panel, columns, to);
    else if constexpr (rows > 1) multiply_rows<rows - 1>(count, pairs, a, panel, columns, to);
  }

  template <int rows, class To>
  PM_BFLOAT16 static void multiply_block(int64_t pairs, const uint32_t* a, const uint32_t* panel, int64_t columns,
                                         const Sums<To>& to) {
    __m512 sums[rows][2];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      for (int half = 0; half < 2; ++half) {
        sums[r][half] =
            to.begun ? _mm512_loadu_ps(to.partial + r * to.partial_step + half * kLines) : _mm512_setzero_ps();
      }
    }
    for (int64_t l = 0; l < pairs; ++l, a += kLines, panel += kWidth) {
      auto left = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel));
      auto right = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + kLines));
      __builtin_prefetch(panel + 8 * kWidth);
      __builtin_prefetch(panel + 8 * kWidth + kLines);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[r])));
        sums[r][0] = _mm512_dpbf16_ps(sums[r][0], factor, left);
        sums[r][1] = _mm512_dpbf16_ps(sums[r][1], factor, right);
      }
    }
    const __mmask16 there[2] = {static_cast<__mmask16>(first_of(columns)),
                                static_cast<__mmask16>(first_of(columns - kLines))};
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      for (int half = 0; half < 2; ++half) {
        if (to.complete) finish(sums[r][half], to, r, half * kLines, there[half]);
        else _mm512_storeu_ps(to.partial + r * to.partial_step + half * kLines, sums[r][half]);
      }
    }
  }
};

}  // namespace bfloat16_block
}  // namespace paddle_mini
