// Inner loops of matrix products: a block of C stays in registers during the loop over k (Goto and van de Geijn 2008).
#pragma once

#include <algorithm>

#include "math/cpu/register_blocks.h"
#include "math/map.h"

namespace paddle_mini {
namespace gemm_block {

// The registers of a row of a panel of B, and the rows of a block, whose sums, a row of the panel and a factor fit into the
// registers, 32 or 16 of them. Wide blocks load less: a factor for three products, not two, and other programs on the same core
// use its load ports, too.
template <class T>
constexpr int kRegisters = many_registers<T> ? 3 : 2;
template <class T>
constexpr int kRows = sizeof(Vec<T>) == 64   ? 9
                      : sizeof(Vec<T>) == 32 ? 6
                                             : 4;

// Columns of a panel. Its rows are consecutive and padded with zeros.
template <class T>
constexpr int64_t kWidth = kRegisters<T> * Vec<T>::size;

// The data that a block prefetches: row 8 ahead of its panel; besides, what Ahead names, while the sums are computed; or, of
// the only panel, as many rows of A as it has, a row_step apart, from Ahead::from on; or more of a panel in slow memory, its
// row 32 ahead. All but the first also prefetch the block of C, since the sums of the next segment of k find it in slow
// memory again.
enum class Fetch { Nothing, Ahead, Rows, Panel };

// Where a block of Fetch::Ahead prefetches at the first depth, and how many bytes further at each next one.
struct Ahead {
  const void* from = nullptr;
  int64_t step = 0;
};

template <int rows, int registers, class T>
void prefetch_block(const T* c, int64_t ldc) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < registers; ++i) __builtin_prefetch(c + r * ldc + i * Vec<T>::size, 1);
  }
}

template <int rows, int registers, class T>
void store_sums(const Vec<T> (&sums)[rows][registers], T* c, int64_t ldc) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < registers; ++i) sums[r][i].store(c + r * ldc + i * Vec<T>::size);
  }
}

// The same for fewer columns than registers have.
template <class T>
[[gnu::noinline]] void store_columns(int64_t rows, const T* sums, int64_t step, T* c, int64_t ldc, int64_t columns,
                                     bool add) {
  for (int64_t r = 0; r < rows; ++r, sums += step, c += ldc) {
    for (int64_t j = 0; j < columns; j += Vec<T>::size) {
      const int64_t part = std::min<int64_t>(columns - j, Vec<T>::size);
      const Vec<T> sum = Vec<T>::load(sums + j);
      map_loop::store_part(add ? map_loop::load_part(c + j, part) + sum : sum, c + j, part);
    }
  }
}

// c[r][..] = (or += if `add`) alpha times the sums for `rows` rows of C and the first registers of a panel, or of several ones
// that are panel_step apart. Row r and depth l have the factor a[r * row_step + l * depth_step]. Out of line, because it is
// long: each place that calls it would have its own.
template <int rows, class T, Fetch fetch, int registers>
[[gnu::noinline]] void multiply_block(int64_t depth, const T* a, int64_t row_step, int64_t depth_step, const T* panel,
                                      T* c, int64_t ldc, int64_t columns, bool add, T alpha, Ahead ahead = {},
                                      int64_t panel_step = 0) {
  using V = Vec<T>;
  auto place = [panel_step](int i) { return i / kRegisters<T> * panel_step + i % kRegisters<T> * V::size; };
  V sums[rows][registers];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < registers; ++i) sums[r][i] = V(T(0));
  }
  if constexpr (fetch != Fetch::Nothing) prefetch_block<rows, registers>(c, ldc);
  const char* behind = static_cast<const char*>(ahead.from);
  for (int64_t l = 0; l < depth; ++l, panel += kWidth<T>, a += depth_step, behind += ahead.step) {
    V row[registers];
#pragma GCC unroll 12
    for (int i = 0; i < registers; ++i) row[i] = V::load(panel + place(i));
    if constexpr (fetch == Fetch::Ahead) __builtin_prefetch(behind, 0, 2);
    if constexpr (fetch == Fetch::Rows) {
      if (l * sizeof(T) % 64 == 0) {
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) __builtin_prefetch(static_cast<const T*>(ahead.from) + r * row_step + l, 0, 2);
      }
    }
    if constexpr (fetch != Fetch::Rows) {
      constexpr int64_t below = (fetch == Fetch::Panel ? 32 : 8) * kWidth<T>;
#pragma GCC unroll 12
      for (int i = 0; i < registers; ++i) __builtin_prefetch(panel + below + place(i));
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      V factor(a[r * row_step]);
#pragma GCC unroll 12
      for (int i = 0; i < registers; ++i) sums[r][i] = multiply_add(factor, row[i], sums[r][i]);
    }
  }
  if (alpha != T(1)) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 12
      for (int i = 0; i < registers; ++i) sums[r][i] = V(alpha) * sums[r][i];
    }
  }
  if (columns >= registers * V::size) {
    if (add) {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 12
        for (int i = 0; i < registers; ++i) sums[r][i] = V::load(c + r * ldc + i * V::size) + sums[r][i];
      }
    }
    return store_sums<rows, registers>(sums, c, ldc);
  }
  T all[rows * registers * V::size];
  store_sums<rows, registers>(sums, all, registers * V::size);
  store_columns(rows, all, registers * V::size, c, ldc, columns, add);
}

// Dispatches to a block with `count` <= rows rows.
template <int rows, class T, Fetch fetch, int registers, class... Arguments>
void multiply_rows(int64_t count, Arguments... arguments) {
  if (count == rows) multiply_block<rows, T, fetch, registers>(arguments...);
  else if constexpr (rows > 1) multiply_rows<rows - 1, T, fetch, registers>(count, arguments...);
}

// At most kRows rows times a panel, with as many registers as its columns need; `columns` may count those after it, too.
template <class T, Fetch fetch>
void multiply_panel(int64_t count, int64_t depth, const T* a, int64_t row_step, int64_t depth_step, const T* panel,
                    T* c, int64_t ldc, int64_t columns, bool add, T alpha, Ahead ahead = {}) {
  columns = std::min(columns, kWidth<T>);
  with_constant<kRegisters<T>>(static_cast<int>((columns + Vec<T>::size - 1) / Vec<T>::size), [&](auto registers) {
    multiply_rows<kRows<T>, T, fetch, registers>(count, depth, a, row_step, depth_step, panel, c, ldc, columns, add,
                                                 alpha, ahead);
  });
}

// So few rows that the sums of one panel would wait for each other: they have several panels, and up to so many sums.
constexpr int kSums = 8;
constexpr int64_t kFewRows = 2;

// At most kFewRows rows times all panels of `columns` columns, which are panel_step apart.
template <class T, Fetch fetch>
void multiply_few_rows(int64_t count, int64_t depth, const T* a, int64_t row_step, int64_t depth_step, const T* panel,
                       int64_t panel_step, T* c, int64_t ldc, int64_t columns, bool add, T alpha) {
  with_constant<kFewRows>(static_cast<int>(count), [&](auto rows) {
    constexpr int most = kSums / kRegisters<T> / rows;
    constexpr int64_t wide = most * kWidth<T>;
    for (; columns > 0; columns -= wide, c += wide, panel += most * panel_step) {
      const auto panels = static_cast<int>((std::min(columns, wide) + kWidth<T> - 1) / kWidth<T>);
      with_constant<most>(panels, [&](auto constant) {
        multiply_block<rows, T, fetch, constant * kRegisters<T>>(depth, a, row_step, depth_step, panel, c, ldc, columns,
                                                                 add, alpha, {}, panel_step);
      });
    }
  });
}

// Packs one panel of `columns` columns and `depth` rows. B[l][i] is b[l * ldb + i], or b[i * ldb + l] if transposed.
template <class T>
void pack_panel(const T* b, int64_t ldb, bool transposed, int64_t depth, int64_t columns, T* panel) {
  constexpr int64_t width = kWidth<T>, lanes = Vec<T>::size;
  const int64_t whole = columns / lanes * lanes;  // the columns of full registers
  const int64_t squares = transposed ? depth / lanes * lanes : depth;
  auto pack_one_by_one = [&](int64_t from, int64_t to, int64_t first) {
    for (int64_t l = from; l < to; ++l) {
      T* row = panel + l * width;
      for (int64_t i = first; i < columns; ++i) row[i] = transposed ? b[i * ldb + l] : b[l * ldb + i];
      std::fill(row + columns, row + width, T(0));
    }
  };
  if (transposed) {
    for (int64_t l = 0; l < squares; l += lanes) {
      for (int64_t i = 0; i < whole; i += lanes) transpose_square(b + i * ldb + l, ldb, panel + l * width + i, width);
    }
  } else {
    for (int64_t l = 0; l < squares; ++l) {
      for (int64_t i = 0; i < whole; i += lanes) Vec<T>::load(b + l * ldb + i).store(panel + l * width + i);
    }
  }
  if (columns < width) pack_one_by_one(0, squares, whole);
  pack_one_by_one(squares, depth, 0);
}

}  // namespace gemm_block
}  // namespace paddle_mini
