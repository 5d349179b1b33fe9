// Blocks of products of bfloat16 by tdpbf16ps: a tile of 16 rows and 32 elements of k times one of 16 pairs and 16 columns
// is added to a tile of sums in float32. It rounds to nearest and takes subnormal numbers as 0 (Intel 64 and IA-32
// Architectures Software Developer's Manual, TDPBF16PS).
#pragma once

#include <immintrin.h>

#include "math/cpu/bfloat16_panels.h"

namespace paddle_mini {
namespace bfloat16_block {

// Blocks of C in tile registers: four tiles of sums, two of A and two of B. A thread's registers have sizes, and the system
// saves their 8 KB when it changes threads, only while an object of this class exists. A product takes as long for a part
// of a tile as for all of it (16 cycles), so parts are padded with zeros.
class Tiles {
 public:
  static constexpr int kRows = 32, kTileRows = 16;
  static constexpr double kSpeed = 8;
  static constexpr int64_t kUnit = 32;
  static constexpr int64_t kDepth = 1024;  // the sums of a block are added to those in memory once
  static constexpr int64_t kBlock = 1 << 18;
  static constexpr int64_t kTogether = kRows;
  static constexpr int64_t kTall = 512;
  static constexpr int64_t kAhead =
      48;  // rows of the panel between those that are multiplied and those that are fetched

  Tiles() { configure(); }
  ~Tiles() { release(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  static constexpr int64_t packed_rows(int64_t pairs) { return kRows * pairs; }

  static void pack_rows(const BFloat16* from, int64_t ld, bool across, int64_t count, int64_t depth, int64_t pairs,
                        uint32_t* to) {
    const int64_t lines = count > kTileRows ? kRows : kTileRows;
    if (across) {
      for (int64_t i = 0; i < lines; i += kLines) pack_transposed(from + i, ld, count - i, depth, pairs, to + i * 16);
      return;
    }
    for (int64_t i = 0; i < lines; ++i, to += 16) {
      for (int64_t l = 0; l < pairs; l += 16) {
        const __mmask32 there = i < count ? first_of(depth - 2 * l) : 0;
        _mm512_storeu_si512(to + l * kRows, _mm512_maskz_loadu_epi16(there, from + i * ld + 2 * l));
      }
    }
  }

  template <class To>
  static void multiply(int64_t count, int64_t pairs, const uint32_t* a, const uint32_t* panel, int64_t columns,
                       const Sums<To>& to) {
    const bool low = count > kTileRows, right = columns > kLines;
    alignas(64) float complete[kRows * kWidth];
    float* sums = to.complete ? complete : to.partial;
    const int64_t step = to.complete ? kWidth : to.partial_step;
    const Operands operands{pairs, a, panel, to.begun ? to.partial : nullptr, to.partial_step, sums, step};
    if (low && right) multiply_block<true, true>(operands);
    else if (low) multiply_block<true, false>(operands);
    else if (right) multiply_block<false, true>(operands);
    else multiply_block<false, false>(operands);
    if (to.complete) finish_rows(count, columns, complete, to);
  }

 private:
  struct Operands {
    int64_t pairs;
    const uint32_t *a, *panel;
    const float* before;  // sums of earlier segments, or nullptr
    int64_t before_step;
    float* sums;
    int64_t step;
  };

  // Transposes lines whose element l is at from[l * ld + i].
  static void pack_transposed(const BFloat16* from, int64_t ld, int64_t count, int64_t depth, int64_t pairs,
                              uint32_t* to) {
    const auto there = static_cast<__mmask16>(first_of(count));
    for (int64_t l = 0; l < pairs; l += 16) {
      Registers block;
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i)
        block.packet[i] = _mm512_castsi512_ps(pair_across(from, ld, there, 2 * (l + i), depth));
      Eigen::internal::ptranspose(block);
#pragma GCC unroll 16
      for (int64_t i = 0; i < 16; ++i) _mm512_storeu_ps(to + l * kRows + i * 16, block.packet[i]);
    }
  }

#define PM_TILES __attribute__((target("amx-tile,amx-bf16")))
  PM_TILES static void configure() {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } sizes;
    asm volatile("" ::"m"(sizes));
    _tile_loadconfig(&sizes);
  }
  PM_TILES static void release() { _tile_release(); }

  // The compiler does not know which memory the instructions read and write, hence the barriers.
  template <bool low, bool right>
  PM_TILES static void multiply_block(const Operands& o) {
    asm volatile("" ::: "memory");
    const int64_t step = o.step * sizeof(float), before_step = o.before_step * sizeof(float);
    if (o.before) {
      _tile_loadd(0, o.before, before_step);
      if (right) _tile_loadd(1, o.before + kLines, before_step);
      if (low) _tile_loadd(2, o.before + kTileRows * o.before_step, before_step);
      if (low && right) _tile_loadd(3, o.before + kTileRows * o.before_step + kLines, before_step);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    const uint32_t *a = o.a, *panel = o.panel;
    const int64_t a_step = 64, panel_step = kWidth * sizeof(uint32_t);
    for (int64_t l = 0; l < o.pairs; l += 16, a += 16 * kRows, panel += 16 * kWidth) {
      _tile_loadd(4, a, a_step);
      _tile_loadd(6, panel, panel_step);
#pragma GCC unroll 16
      for (int64_t row = kAhead; row < kAhead + 16; ++row) {
        __builtin_prefetch(panel + row * kWidth);
        if (right) __builtin_prefetch(panel + row * kWidth + kLines);
      }
      _tile_dpbf16ps(0, 4, 6);
      if (right) {
        _tile_loadd(7, panel + kLines, panel_step);
        _tile_dpbf16ps(1, 4, 7);
      }
      if (low) {
        _tile_loadd(5, a + 16 * kTileRows, a_step);
        _tile_dpbf16ps(2, 5, 6);
        if (right) _tile_dpbf16ps(3, 5, 7);
      }
    }
    _tile_stored(0, o.sums, step);
    if (right) _tile_stored(1, o.sums + kLines, step);
    if (low) _tile_stored(2, o.sums + kTileRows * o.step, step);
    if (low && right) _tile_stored(3, o.sums + kTileRows * o.step + kLines, step);
    asm volatile("" ::: "memory");
  }
#undef PM_TILES

  template <class To>
  PM_BFLOAT16 static void finish_rows(int64_t count, int64_t columns, const float* sums, const Sums<To>& to) {
    const auto left = static_cast<__mmask16>(first_of(columns)),
               right = static_cast<__mmask16>(first_of(columns - kLines));
    for (int64_t r = 0; r < count; ++r, sums += kWidth) {
      finish(_mm512_load_ps(sums), to, r, 0, left);
      if (right) finish(_mm512_load_ps(sums + kLines), to, r, kLines, right);
    }
  }
};

}  // namespace bfloat16_block
}  // namespace paddle_mini
