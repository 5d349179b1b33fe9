// Registers and arrays of 16-bit floats as float. Rounding is to nearest, ties to even, as in core/half.h.
#pragma once

#include <algorithm>

#include "core/half.h"
#include "math/vec.h"

namespace paddle_mini {

// As many elements as a register of float has.
template <class Half>
Vec<float> load_floats(const Half* from) {
#if defined(__AVX512F__)
  __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  if constexpr (std::is_same_v<Half, Float16>) return Vec<float>(_mm512_cvtph_ps(bits));
  else return Vec<float>(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)));
#elif defined(__AVX2__) && defined(__F16C__)
  __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if constexpr (std::is_same_v<Half, Float16>) return Vec<float>(_mm256_cvtph_ps(bits));
  else return Vec<float>(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16)));
#else
  float lanes[Vec<float>::size];
  for (int i = 0; i < Vec<float>::size; ++i) lanes[i] = to_float(from[i]);
  return Vec<float>::load(lanes);
#endif
}

template <class Half>
void store_floats(Vec<float> value, Half* to) {
#if defined(__AVX512F__)
  __m256i bits;
  if constexpr (std::is_same_v<Half, Float16>) {
    bits = _mm512_cvtps_ph(value.p, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    __m512i wide = _mm512_castps_si512(value.p),
            odd = _mm512_and_si512(_mm512_srli_epi32(wide, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(wide, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __mmask16 nan = _mm512_cmp_ps_mask(value.p, value.p, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, wide, _mm512_set1_epi32(0x400000));
    bits = _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits);
#elif defined(__AVX2__) && defined(__F16C__)
  __m128i bits;
  if constexpr (std::is_same_v<Half, Float16>) {
    bits = _mm256_cvtps_ph(value.p, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    __m256i wide = _mm256_castps_si256(value.p),
            odd = _mm256_and_si256(_mm256_srli_epi32(wide, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(wide, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256 nan = _mm256_cmp_ps(value.p, value.p, _CMP_UNORD_Q);
    __m256i quiet = _mm256_or_si256(wide, _mm256_set1_epi32(0x400000));
    rounded = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan)), 16);
    bits = _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bits);
#else
  float lanes[Vec<float>::size];
  value.store(lanes);
  for (int i = 0; i < Vec<float>::size; ++i) from_float(lanes[i], to[i]);
#endif
}

// The first `count` elements of a register; the others are 0, or not stored.
template <class Half>
Vec<float> load_floats(const Half* from, int64_t count) {
  Half lanes[Vec<float>::size] = {};
  std::copy_n(from, count, lanes);
  return load_floats(lanes);
}
template <class Half>
void store_floats(Vec<float> value, Half* to, int64_t count) {
  Half lanes[Vec<float>::size];
  store_floats(value, lanes);
  std::copy_n(lanes, count, to);
}

template <class Half>
void to_floats(int64_t n, const Half* from, float* to) {
  constexpr int64_t step = Vec<float>::size;
  int64_t i = 0;
  for (; i + step <= n; i += step) load_floats(from + i).store(to + i);
  float lanes[step];
  load_floats(from + i, n - i).store(lanes);
  std::copy_n(lanes, n - i, to + i);
}

template <class Half>
void from_floats(int64_t n, const float* from, Half* to) {
  constexpr int64_t step = Vec<float>::size;
  int64_t i = 0;
  for (; i + step <= n; i += step) store_floats(Vec<float>::load(from + i), to + i);
  float lanes[step] = {};
  std::copy_n(from + i, n - i, lanes);
  store_floats(Vec<float>::load(lanes), to + i, n - i);
}

}  // namespace paddle_mini
