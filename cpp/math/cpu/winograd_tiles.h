// The parts of Winograd's F(2x2, 3x3) that compute a few tiles: transforms in registers, and products of channels.
#pragma once

#include "math/cpu/last_steps.h"
#include "math/cpu/pixel_products.h"
#include "math/map.h"

namespace paddle_mini::winograd {

using V = Vec<float>;

// A tile has 16 planes. Panels of filters have two registers of output channels; a block of tiles has its sums in registers.
constexpr int kPlanes = 16, kLanes = V::size, kWidth = 2 * kLanes, kMostTiles = kMostPixels<float>;

// One axis of the transform of inputs; the transform of a 4x4 tile is that of its columns, then of its rows.
inline void transform_inputs_of_axis(const V (&in)[4], V (&out)[4]) {
  out[0] = in[0] - in[2];
  out[1] = in[1] + in[2];
  out[2] = in[2] - in[1];
  out[3] = in[1] - in[3];
}

template <int... I>
V odd_lanes(V a, V b, std::integer_sequence<int, I...>) {
  return V(__builtin_shufflevector(a.p, b.p, (2 * I + 1)...));
}

// planes[p * step] = a register of neighbouring tiles, transformed, whose pixels begin at `from`.
inline void transform_tiles(const float* from, int64_t pitch, float* planes, int64_t step) {
  V columns[4][4];  // their pixels begin at 0, 2, kLanes, kLanes + 2
#pragma GCC unroll 4
  for (int n = 0; n < 4; ++n) {
    const float* at = from + n / 2 * kLanes + n % 2 * 2;
    const V in[4] = {V::load(at), V::load(at + pitch), V::load(at + 2 * pitch), V::load(at + 3 * pitch)};
    transform_inputs_of_axis(in, columns[n]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const V a = columns[0][i], b = columns[2][i], c = columns[1][i], d = columns[3][i];
    const auto lanes = std::make_integer_sequence<int, kLanes>();
    const V in[4] = {every_second(a, b), odd_lanes(a, b, lanes), every_second(c, d), odd_lanes(c, d, lanes)};
    V out[4];
    transform_inputs_of_axis(in, out);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) out[j].store(planes + (4 * i + j) * step);
  }
}

// One axis of the transform of filters.
inline void transform_taps_of_axis(V a, V b, V c, V (&out)[4]) {
  const V half(0.5f), sides = (a + c) * half, middle = b * half;
  out[0] = a;
  out[1] = sides + middle;
  out[2] = sides - middle;
  out[3] = c;
}

// planes[p * step] = a register of filters, transformed, whose nine taps are tap_step apart.
inline void transform_taps(const float* taps, int64_t tap_step, float* planes, int64_t step) {
  V rows[3][4];
#pragma GCC unroll 3
  for (int y = 0; y < 3; ++y) {
    const float* at = taps + 3 * y * tap_step;
    transform_taps_of_axis(V::load(at), V::load(at + tap_step), V::load(at + 2 * tap_step), rows[y]);
  }
#pragma GCC unroll 4
  for (int x = 0; x < 4; ++x) {
    V column[4];
    transform_taps_of_axis(rows[0][x], rows[1][x], rows[2][x], column);
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) column[y].store(planes + (4 * y + x) * step);
  }
}

// How many rows of a panel are prefetched ahead: panels may lie in slow memory, and a row takes 14 cycles at most.
constexpr int kPanelAhead = 32;

// sums [tiles, panel's width] = (or += if `add`) tiles' panel, of `count` channels; their tiles are `step` apart. Prefetches
// one line of `ahead` for two channels.
template <int tiles, int registers>
inline void multiply_tiles(int64_t count, const float* panel, const float* from, int64_t step, const float* ahead,
                           bool add, float* result) {
  V sums[tiles][registers];
#pragma GCC unroll 14
  for (int i = 0; i < tiles; ++i) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) sums[i][r] = add ? V::load(result + i * kWidth + r * kLanes) : V(0.0f);
  }
  for (int64_t k = 0; k < count; ++k, panel += registers * kLanes, from += step) {
    V factors[registers];
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) {
      factors[r] = V::load(panel + r * kLanes);
      __builtin_prefetch(panel + (kPanelAhead * registers + r) * kLanes);
    }
    __builtin_prefetch(ahead + k * kLanes / 2);
#pragma GCC unroll 14
    for (int i = 0; i < tiles; ++i) {
      const V input(from[i]);
#pragma GCC unroll 2
      for (int r = 0; r < registers; ++r) sums[i][r] = multiply_add(input, factors[r], sums[i][r]);
    }
  }
#pragma GCC unroll 14
  for (int i = 0; i < tiles; ++i) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) sums[i][r].store(result + i * kWidth + r * kLanes);
  }
}

// The 2x2 outputs of a tile, for a register of channels.
inline void transform_products(const float* products, int64_t step, V (&out)[2][2]) {
  V rows[2][4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const V a = V::load(products + j * step), b = V::load(products + (4 + j) * step);
    const V c = V::load(products + (8 + j) * step), d = V::load(products + (12 + j) * step);
    rows[0][j] = a + b + c;
    rows[1][j] = b - c - d;
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    out[i][0] = rows[i][0] + rows[i][1] + rows[i][2];
    out[i][1] = rows[i][1] - rows[i][2] - rows[i][3];
  }
}

// Stores a row of `count` pixels, [pixels, channels], of `channels` channels from the one of that number on.
inline void store_turned(const float* pixels, int64_t count, int64_t channels, int64_t plane,
                         const LastSteps<float>& steps, int64_t number, float* to) {
  alignas(64) float turned[kLanes * kLanes];
  transpose_square(pixels, kLanes, turned, kLanes);
  auto load = [count](const float* from, int) { return map_loop::load_part(from, count); };
  for (int64_t c = 0; c < channels; ++c, to += plane) {
    V row[1][1] = {{V::load(turned + c * kLanes)}};
    if (steps.taken()) steps.apply(row, number + c, 0, to, 0, load);
    if (count == kLanes) row[0][0].store(to);
    else map_loop::store_part(row[0][0], to, count);
  }
}

}  // namespace paddle_mini::winograd
