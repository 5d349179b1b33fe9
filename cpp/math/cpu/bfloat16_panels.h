// Panels of products of bfloat16, and where their sums go. The instructions add products of pairs to a sum in float32:
// consecutive elements of k are packed as pairs.
#pragma once

#include <algorithm>
#include <array>

#include "core/dtype.h"
#include "math/vec.h"

namespace paddle_mini {
namespace bfloat16_block {

// Only functions with this attribute have the instruction that rounds registers; they run at the level v4-bf16.
#define PM_BFLOAT16 __attribute__((target("avx512bf16")))

constexpr int64_t kLines = 16;  // columns of B, or rows of A, whose pairs of one depth fill a register
constexpr int64_t kWidth = 2 * kLines;  // columns of a panel of B, padded with zeros

inline __mmask32 first_of(int64_t count) { return count >= 32 ? ~0u : (1u << std::max<int64_t>(count, 0)) - 1; }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // a register's, as a template argument
using Register = Vec<float>::Packet;  // moves bits only
using Registers = Eigen::internal::PacketBlock<Register, 16>;
#pragma GCC diagnostic pop

// to[l * step + i] is the elements 2l and 2l + 1 of line i, for `count` lines and `pairs` pairs, zeros from `depth` on. Line
// i begins at from + i * ld.
inline void pack_along(const BFloat16* from, int64_t ld, int64_t count, int64_t depth, int64_t pairs, uint32_t* to,
                       int64_t step) {
  for (int64_t l = 0; l < pairs; l += 16, from += 32, to += 16 * step) {
    const __mmask32 there = first_of(depth - 2 * l);
    Registers block;
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      block.packet[i] = _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(i < count ? there : 0, from + i * ld));
    Eigen::internal::ptranspose(block);
    const int64_t here = std::min<int64_t>(pairs - l, 16);
    for (int64_t i = 0; i < here; ++i) _mm512_storeu_ps(to + i * step, block.packet[i]);
  }
}

// The elements `l` and l + 1 of lines whose element l is at from[l * ld + i]; zeros from `depth` on.
inline __m512i pair_across(const BFloat16* from, int64_t ld, __mmask16 there, int64_t l, int64_t depth) {
  if (l >= depth) return _mm512_setzero_si512();
  __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from + l * ld));
  if (l + 1 == depth) return low;
  __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from + (l + 1) * ld));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

// to[i] is the elements i of both rows, for kWidth elements.
inline void store_pairs(__m512i even, __m512i odd, uint32_t* to) {
  alignas(64) static constexpr auto kOrder = [] {
    std::array<uint16_t, 64> order{};
    for (uint16_t i = 0; i < 64; ++i) order[i] = static_cast<uint16_t>(i / 2 + i % 2 * 32);
    return order;
  }();
  _mm512_store_si512(to, _mm512_permutex2var_epi16(even, _mm512_load_si512(kOrder.data()), odd));
  _mm512_store_si512(to + kLines, _mm512_permutex2var_epi16(even, _mm512_load_si512(kOrder.data() + 32), odd));
}

// pack_along for such lines, of which there are at most kWidth, to a panel that is padded with zeros.
inline void pack_across(const BFloat16* from, int64_t ld, int64_t count, int64_t depth, int64_t pairs, uint32_t* to) {
  const __mmask32 there = first_of(count);
  for (int64_t l = 0; l < 2 * pairs; l += 2, from += 2 * ld, to += kWidth) {
    const __m512i even = _mm512_maskz_loadu_epi16(l < depth ? there : 0, from);
    const __m512i odd = _mm512_maskz_loadu_epi16(l + 1 < depth ? there : 0, from + ld);
    store_pairs(even, odd, to);
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

// The complete sums of kLines columns of a row, of which the columns `there` exist.
template <class To>
PM_BFLOAT16 inline void finish(__m512 sums, const Sums<To>& to, int64_t row, int64_t column, __mmask16 there) {
  To* c = to.c + row * to.ldc + column;
  sums = _mm512_mul_ps(_mm512_set1_ps(to.alpha), sums);
  if (to.beta != 0) sums = _mm512_add_ps(sums, _mm512_mul_ps(_mm512_set1_ps(to.beta), load(c, there)));
  store(sums, c, there);
}

}  // namespace bfloat16_block
}  // namespace paddle_mini
