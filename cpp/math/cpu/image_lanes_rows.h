// Copies between images and lanes: rows [elements, lanes] hold the same elements of neighbouring images.
#pragma once

#include <algorithm>

#include "math/map.h"

namespace paddle_mini {
namespace image_lanes {

// to[i * lanes + n] = from[n * image_step + i] for `count` elements, with zeros for images that do not exist.
template <class T>
void pack_run(const T* from, int64_t image_step, int64_t images, int64_t count, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  alignas(64) T part[lanes * lanes];
  for (int64_t i = 0; i < count; i += lanes, from += lanes, to += lanes * lanes) {
    const int64_t here = std::min(count - i, lanes);
    if (here == lanes && images == lanes) {
      transpose_square(from, image_step, to, lanes);
      continue;
    }
    for (int64_t n = 0; n < lanes; ++n) {
      const Vec<T> row = n < images ? map_loop::load_part(from + n * image_step, here) : Vec<T>(T(0));
      row.store(part + n * lanes);
    }
    if (here == lanes) {
      transpose_square(part, lanes, to, lanes);
      continue;
    }
    alignas(64) T turned[lanes * lanes];
    transpose_square(part, lanes, turned, lanes);
    std::copy_n(turned, here * lanes, to);
  }
}

// The inverse.
template <class T>
void unpack_run(const T* from, int64_t count, int64_t image_step, int64_t images, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  for (int64_t i = 0; i < count; i += lanes, from += lanes * lanes, to += lanes) {
    const int64_t here = std::min(count - i, lanes);
    if (here == lanes && images == lanes) {
      transpose_square(from, lanes, to, image_step);
      continue;
    }
    alignas(64) T part[lanes * lanes], turned[lanes * lanes];
    std::copy_n(from, here * lanes, part);
    std::fill(part + here * lanes, part + lanes * lanes, T(0));
    transpose_square(part, lanes, turned, lanes);
    for (int64_t n = 0; n < images; ++n)
      map_loop::store_part(Vec<T>::load(turned + n * lanes), to + n * image_step, here);
  }
}

template <class T>
void clear(T* to, int64_t count) {
  for (int64_t i = 0; i < count; i += Vec<T>::size) Vec<T>(T(0)).store(to + i);
}

// Rows of a plane, with zeros before and after each.
template <class T>
void pack_rows(const T* from, int64_t image_step, int64_t images, int64_t rows, int64_t width, int64_t before,
               int64_t after, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  if (before == 0 && after == 0) return pack_run(from, image_step, images, rows * width, to);
  for (int64_t row = 0; row < rows; ++row, from += width) {
    clear(to, before * lanes);
    pack_run(from, image_step, images, width, to + before * lanes);
    to += (before + width) * lanes;
    clear(to, after * lanes);
    to += after * lanes;
  }
}

// The same where images are in lanes already: rows of `width` elements in lanes.
template <class T>
void copy_rows(const T* from, int64_t rows, int64_t width, int64_t before, int64_t after, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  for (int64_t row = 0; row < rows; ++row, from += width * lanes) {
    clear(to, before * lanes);
    std::copy_n(from, width * lanes, to + before * lanes);
    to += (before + width) * lanes;
    clear(to, after * lanes);
    to += after * lanes;
  }
}

}  // namespace image_lanes
}  // namespace paddle_mini
