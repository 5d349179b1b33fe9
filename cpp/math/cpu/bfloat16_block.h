// Inner loops of products of bfloat16: vdpbf16ps adds the products of two pairs to a sum in float32. Consecutive elements
// of k are therefore packed as pairs, for A and for B. The instruction rounds to nearest and takes subnormal numbers as 0
// (Intel 64 and IA-32 Architectures Software Developer's Manual, VDPBF16PS).
#pragma once

#include <algorithm>

#include "core/dtype.h"
#include "math/vec.h"

namespace paddle_mini {
namespace bfloat16_block {

// Only these functions have the instructions; they run at the level v4-bf16.
#define PM_BFLOAT16 __attribute__((target("avx512bf16")))

constexpr int64_t kLines = 16;  // rows of A, or columns of B, whose pairs of one depth fill a register
constexpr int kRows = 14;  // rows of a block of C: its sums, a row of the panel and a factor fit into 32 registers
constexpr int64_t kWidth = 2 * kLines;  // columns of a panel of B, padded with zeros

inline __mmask32 first_of(int64_t count) { return count >= 32 ? ~0u : (1u << std::max<int64_t>(count, 0)) - 1; }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // a register's, as a template argument
// to[l * step + i] is the elements 2l and 2l + 1 of line i, for `count` lines. Line i begins at from + i * ld.
inline void pack_along(const BFloat16* from, int64_t ld, int64_t count, int64_t depth, uint32_t* to, int64_t step) {
  using Register = Vec<float>::Packet;  // moves bits only
  for (int64_t l = 0; l < depth; l += 32, from += 32, to += 16 * step) {
    const __mmask32 there = first_of(depth - l);
    Eigen::internal::PacketBlock<Register, 16> block;
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      block.packet[i] = _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(i < count ? there : 0, from + i * ld));
    Eigen::internal::ptranspose(block);
    const int64_t pairs = std::min<int64_t>((depth - l + 1) / 2, 16);
    for (int64_t i = 0; i < pairs; ++i) _mm512_storeu_ps(to + i * step, block.packet[i]);
  }
}
#pragma GCC diagnostic pop

// The same for lines whose element l is at from[l * ld + i].
inline void pack_across(const BFloat16* from, int64_t ld, int64_t count, int64_t depth, uint32_t* to, int64_t step) {
  const auto there = static_cast<__mmask16>(first_of(count));
  for (int64_t l = 0; l < depth; l += 2, from += 2 * ld, to += step) {
    __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from)), high = _mm512_setzero_si512();
    if (l + 1 < depth) high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from + ld));
    _mm512_storeu_si512(to, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

// Where the sums of a block go: alpha times them plus beta c to c, or to `partial` while segments of k are left. `begun`:
// `partial` has the sums of those before.
template <class To>
struct Sums {
  To* c;
  int64_t ldc;
  float* partial;
  int64_t partial_step;
  bool begun, complete;
  float alpha, beta;
};

PM_BFLOAT16 inline void store(__m512 value, float* to, __mmask16 there) { _mm512_mask_storeu_ps(to, there, value); }
PM_BFLOAT16 inline void store(__m512 value, BFloat16* to, __mmask16 there) {
  _mm256_mask_storeu_epi16(to, there, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
}
inline __m512 load(const float* from, __mmask16 there) { return _mm512_maskz_loadu_ps(there, from); }
inline __m512 load(const BFloat16* from, __mmask16 there) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from)), 16));
}

// `rows` rows of A, of which a[l * kLines + r] is a pair, times a panel.
template <int rows, class To>
PM_BFLOAT16 void multiply_block(int64_t pairs, const uint32_t* a, const uint32_t* panel, int64_t columns,
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
  const __m512 alpha = _mm512_set1_ps(to.alpha), beta = _mm512_set1_ps(to.beta);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    for (int half = 0; half < 2; ++half) {
      if (!to.complete) {
        _mm512_storeu_ps(to.partial + r * to.partial_step + half * kLines, sums[r][half]);
        continue;
      }
      To* c = to.c + r * to.ldc + half * kLines;
      __m512 sum = _mm512_mul_ps(alpha, sums[r][half]);
      if (to.beta != 0) sum = _mm512_add_ps(sum, _mm512_mul_ps(beta, load(c, there[half])));
      store(sum, c, there[half]);
    }
  }
}

// Dispatches to a block with `count` <= rows rows.
template <int rows, class To>
void multiply_rows(int64_t count, int64_t pairs, const uint32_t* a, const uint32_t* panel, int64_t columns,
                   const Sums<To>& to) {
  if (count == rows) multiply_block<rows>(pairs, a, panel, columns, to);
  else if constexpr (rows > 1) multiply_rows<rows - 1>(count, pairs, a, panel, columns, to);
}

#undef PM_BFLOAT16

}  // namespace bfloat16_block
}  // namespace paddle_mini
