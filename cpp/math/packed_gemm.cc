// The loops of PackedGemm: a block of C is kept in registers while k goes by (Goto and van de Geijn 2008).
#include "math/packed_gemm.h"

#include <algorithm>

#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
constexpr int64_t kWidth = 2 * Vec<T>::size;  // columns of a panel
// Rows of a block: its sums, a row of the panel and a factor must fit into the registers, 32 or 16 of them.
template <class T>
constexpr int kRows = sizeof(Vec<T>) == 64 ? 8 : 4;
constexpr int64_t kDepth = 256;      // of a stretch of k, so that a panel's stretch stays in the nearest cache
constexpr int64_t kRowsAtOnce = 32;  // rows of C for which a panel is used while it is near
constexpr int64_t kTiles = 4;        // of a transposed A that are copied at once, so that whole cache lines are read

// sums of `rows` rows of C; the factors of row r and depth l are at a[r * row_step + l * depth_step].
template <int rows, class T>
void multiply_block(int64_t depth, const T* a, int64_t row_step, int64_t depth_step, const T* panel, T* c, int64_t ldc,
                    int64_t columns, bool add) {
  using V = Vec<T>;
  V sums[rows][2];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = V(T(0));
  const T* row[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) row[r] = a + r * row_step;
  for (int64_t l = 0; l < depth; ++l, panel += kWidth<T>) {
    V left = V::load(panel), right = V::load(panel + V::size);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      V factor(row[r][l * depth_step]);
      sums[r][0] = multiply_add(factor, left, sums[r][0]);
      sums[r][1] = multiply_add(factor, right, sums[r][1]);
    }
  }
  int64_t parts[2] = {std::min<int64_t>(columns, V::size), std::max<int64_t>(columns - V::size, 0)};
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      T* to = c + r * ldc + half * V::size;
      if (parts[half] == V::size) {
        (add ? V::load(to) + sums[r][half] : sums[r][half]).store(to);
      } else if (parts[half] > 0) {
        V sum = add ? map_loop::load_part(to, parts[half]) + sums[r][half] : sums[r][half];
        map_loop::store_part(sum, to, parts[half]);
      }
    }
  }
}

// A block of fewer rows.
template <int rows, class T, class... Arguments>
void multiply_rows(int64_t count, Arguments... arguments) {
  if (count == rows) multiply_block<rows, T>(arguments...);
  else if constexpr (rows > 1) multiply_rows<rows - 1, T>(count, arguments...);
}

// Tiles of kRows columns, the row of the next depth behind that of the one before.
template <class T>
void copy_tiles(int64_t depth, int64_t columns, const T* a, int64_t lda, T* tiles) {
  for (int64_t l = 0; l < depth; ++l) {
    T* to = tiles + l * kRows<T>;
    for (int64_t i = 0; i < columns; i += kRows<T>, to += depth * kRows<T>) {
      if (columns - i >= kRows<T>) std::copy_n(a + l * lda + i, kRows<T>, to);
      else std::copy_n(a + l * lda + i, columns - i, to);
    }
  }
}

}  // namespace

template <class T>
int64_t PackedGemm<T>::packed_size() const { return (n + kWidth<T> - 1) / kWidth<T> * kWidth<T> * k; }

template <class T>
int64_t PackedGemm<T>::tile_size() { return kTiles * kDepth * kRows<T>; }

template <class T>
void PackedGemm<T>::pack(const T* b, int64_t ldb, bool transposed, T* packed) const {
  constexpr int64_t width = kWidth<T>, lanes = Vec<T>::size;
  for (int64_t j = 0; j < n; j += width, packed += width * k) {
    int64_t columns = std::min(width, n - j), l = 0;
    if (transposed && columns == width) {
      for (; l + lanes <= k; l += lanes) {
        transpose_square(b + j * ldb + l, ldb, packed + l * width, width);
        transpose_square(b + (j + lanes) * ldb + l, ldb, packed + l * width + lanes, width);
      }
    }
    for (; l < k; ++l) {
      T* to = packed + l * width;
      if (transposed) for (int64_t i = 0; i < columns; ++i) to[i] = b[(j + i) * ldb + l];
      else std::copy_n(b + l * ldb + j, columns, to);
      std::fill(to + columns, to + width, T(0));
    }
  }
}

template <class T>
void PackedGemm<T>::run(int64_t m, const T* a, int64_t lda, const T* packed, T* c, int64_t ldc, bool add) const {
  if (k == 0 && !add) for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T(0));
  for (int64_t top = 0; top < m; top += kRowsAtOnce) {
    int64_t bottom = std::min(m, top + kRowsAtOnce);
    for (int64_t from = 0; from < k; from += kDepth) {
      int64_t depth = std::min(kDepth, k - from);
      for (int64_t j = 0; j < n; j += kWidth<T>) {
        const T* panel = packed + j * k + from * kWidth<T>;
        for (int64_t i = top; i < bottom; i += kRows<T>) {
          multiply_rows<kRows<T>, T>(std::min<int64_t>(kRows<T>, bottom - i), depth, a + i * lda + from, lda,
                                     int64_t{1}, panel, c + i * ldc + j, ldc, std::min(kWidth<T>, n - j),
                                     add || from > 0);
        }
      }
    }
  }
}

template <class T>
void PackedGemm<T>::run_transposed(int64_t m, const T* a, int64_t lda, const T* packed, T* tile, T* c,
                                   int64_t ldc) const {
  if (k == 0) for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T(0));
  for (int64_t from = 0; from < k; from += kDepth) {
    int64_t depth = std::min(kDepth, k - from);
    for (int64_t top = 0; top < m; top += kTiles * kRows<T>) {
      int64_t bottom = std::min(m, top + kTiles * kRows<T>);
      copy_tiles(depth, bottom - top, a + from * lda + top, lda, tile);
      for (int64_t j = 0; j < n; j += kWidth<T>) {
        const T* from_tile = tile;
        for (int64_t i = top; i < bottom; i += kRows<T>, from_tile += depth * kRows<T>) {
          multiply_rows<kRows<T>, T>(std::min<int64_t>(kRows<T>, bottom - i), depth, from_tile, int64_t{1},
                                     int64_t{kRows<T>}, packed + j * k + from * kWidth<T>, c + i * ldc + j, ldc,
                                     std::min(kWidth<T>, n - j), from > 0);
        }
      }
    }
  }
}

template struct PackedGemm<float>;
template struct PackedGemm<double>;

}  // namespace paddle_mini
