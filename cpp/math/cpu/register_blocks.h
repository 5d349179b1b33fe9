// Splits the rows of a product into blocks whose sums fit into registers.
#pragma once

#include "core/parallel.h"
#include "math/vec.h"

#include <cstdint>
#include <type_traits>

namespace paddle_mini {

// AVX-512 has 32 registers, others 16.
template <class T>
constexpr bool many_registers = Vec<T>::size * sizeof(T) == 64;
template <class T>
constexpr int kMostRows = many_registers<T> ? 12 : 6;  // a row has two registers

// Calls f(first row, count) for blocks of nearly equal size, none larger than `most`.
template <class F>
void each_block(int64_t rows, int64_t most, F f) {
  int64_t blocks = (rows + most - 1) / most;
  for (int64_t block = 0, first = 0; block < blocks; ++block) {
    int64_t count = rows / blocks + (block < rows % blocks);
    f(first, static_cast<int>(count));
    first += count;
  }
}

// The same for the rows of each of `groups`, on several threads: f(group, first row, count). cost: of a block of `most`.
template <class F>
void each_block(KernelContext& context, int64_t groups, int64_t rows, int64_t most, double cost, F f) {
  const int64_t blocks = (rows + most - 1) / most;
  parallel_for(context, {groups * blocks, cost}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t block = i % blocks, each = rows / blocks, longer = rows % blocks;
      f(i / blocks, block * each + std::min(block, longer), static_cast<int>(each + (block < longer)));
    }
  });
}

// Calls f(std::integral_constant<int, count>), turning the number into a constant.
template <int most, class F>
inline void with_constant(int count, F f) {
  if constexpr (most > 1) {
    if (count < most) return with_constant<most - 1>(count, f);
  }
  f(std::integral_constant<int, most>());
}

}  // namespace paddle_mini
