// Products of a matrix and a vector, which take as long as the matrix takes to arrive. A result's sum has the same order
// wherever the result is, so it does not depend on how the results are split among threads.
#pragma once

#include <algorithm>

#include "math/cpu/gemm_panels.h"

namespace paddle_mini {
namespace matrix_vector {

// sums[j] += sum over r of factors[r] * m[r * step + j], for the columns of so many registers
template <int registers, class T>
void add_columns(int64_t rows, const T* factors, const T* m, int64_t step, T* sums) {
  using V = Vec<T>;
  V sum[registers];
#pragma GCC unroll 8
  for (int i = 0; i < registers; ++i) sum[i] = V::load(sums + i * V::size);
  for (int64_t r = 0; r < rows; ++r, m += step) {
    const V factor(factors[r]);
#pragma GCC unroll 8
    for (int i = 0; i < registers; ++i) sum[i] = multiply_add(factor, V::load(m + i * V::size), sum[i]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < registers; ++i) sum[i].store(sums + i * V::size);
}

// The same for n columns.
template <class T>
void add_rows(int64_t n, int64_t rows, const T* factors, const T* m, int64_t step, T* sums) {
  using V = Vec<T>;
  constexpr int kRegisters = 8;
  int64_t j = 0;
  while (n - j >= V::size) {
    const auto registers = static_cast<int>(std::min<int64_t>((n - j) / V::size, kRegisters));
    with_constant<kRegisters>(registers, [&](auto count) { add_columns<count>(rows, factors, m + j, step, sums + j); });
    j += registers * V::size;
  }
  if (j == n) return;
  V sum = map_loop::load_part(sums + j, n - j);
  for (int64_t r = 0; r < rows; ++r) {
    sum = multiply_add(V(factors[r]), map_loop::load_part(m + r * step + j, n - j), sum);
  }
  map_loop::store_part(sum, sums + j, n - j);
}

// sums[r] = sum over l of m[r * step + l] * x[l]
template <int rows, class T>
void multiply_rows(int64_t n, const T* m, int64_t step, const T* x, T* sums) {
  using V = Vec<T>;
  V parts[rows][2];
  for (auto& row : parts) row[0] = row[1] = V(T(0));
  auto add = [&](int half, V factor, auto load) {
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) parts[r][half] = multiply_add(load(m + r * step), factor, parts[r][half]);
  };
  auto add_register = [&](int half, int64_t l) {
    add(half, V::load(x + l), [l](const T* row) { return V::load(row + l); });
  };
  int64_t l = 0;
  for (; l + 2 * V::size <= n; l += 2 * V::size) add_register(0, l), add_register(1, l + V::size);
  if (l + V::size <= n) add_register(0, l), l += V::size;
  if (l < n)
    add(1, map_loop::load_part(x + l, n - l), [l, n](const T* row) { return map_loop::load_part(row + l, n - l); });
  for (int r = 0; r < rows; ++r) sums[r] = sum_of_lanes(parts[r][0] + parts[r][1]);
}

// y = alpha * M x, or y += alpha * M x if `add`, where x has k elements. Element i, l of M is m[i * step + l], or
// m[l * step + i] if it is transposed.
template <class T>
struct Product {
  const T* m;
  int64_t step;
  bool transposed;
  const T* x;
  int64_t x_step, k;
  T* y;
  int64_t y_step;
  bool add;
  T alpha;

  // Computes y[begin] ... y[end - 1], a block of sums in the first-level cache at a time. Segments of k are those of a product
  // of matrices, which are as exact.
  void run(int64_t begin, int64_t end) const {
    constexpr int64_t kBlock = 2048;
    T sums[kBlock], part[kBlock];
    for (; begin < end; begin += kBlock) {
      const int64_t n = std::min(kBlock, end - begin);
      std::fill_n(sums, n, T(0));
      gemm_panels::each_segment<T>(k, [&](int64_t from, int64_t depth) {
        multiply_segment(begin, n, from, depth, part);
        for (int64_t i = 0; i < n; ++i) sums[i] += part[i];
      });
      T* to = y + begin * y_step;
      for (int64_t i = 0; i < n; ++i) to[i * y_step] = add ? to[i * y_step] + alpha * sums[i] : alpha * sums[i];
    }
  }

 private:
  void multiply_segment(int64_t first, int64_t n, int64_t from, int64_t depth, T* sums) const {
    T copy[gemm_panels::kDepth<T>];
    const T* factors = x + from;
    if (x_step != 1) {
      for (int64_t l = 0; l < depth; ++l) copy[l] = x[(from + l) * x_step];
      factors = copy;
    }
    // Rows of M that are read together, each a stream of its own.
    constexpr int64_t kAdded = 16;
    constexpr int kMultiplied = 4;
    if (transposed) {
      std::fill_n(sums, n, T(0));
      for (int64_t l = 0; l < depth; l += kAdded) {
        add_rows(n, std::min(kAdded, depth - l), factors + l, m + (from + l) * step + first, step, sums);
      }
    } else {
      const T* rows = m + first * step + from;
      int64_t i = 0;
      for (; i + kMultiplied <= n; i += kMultiplied) {
        multiply_rows<kMultiplied>(depth, rows + i * step, step, factors, sums + i);
      }
      for (; i < n; ++i) multiply_rows<1>(depth, rows + i * step, step, factors, sums + i);
    }
  }
};

}  // namespace matrix_vector
}  // namespace paddle_mini
