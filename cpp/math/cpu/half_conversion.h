// Conversion of arrays of 16-bit floats to float.
#pragma once

#include "core/half.h"
#include "math/vec.h"

namespace paddle_mini {

#if defined(__AVX512F__)
inline __m512 floats_of(__m256i bits, Float16) { return _mm512_cvtph_ps(bits); }
inline __m512 floats_of(__m256i bits, BFloat16) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
#endif

template <class Half>
void to_floats(int64_t n, const Half* from, float* to) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    _mm512_storeu_ps(to + i, floats_of(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)), Half{}));
  }
#endif
  for (; i < n; ++i) to[i] = to_float(from[i]);
}

}  // namespace paddle_mini
