// Lines of elements along an axis on a GPU; several threads of a block share each line.
#pragma once

#include "math/gpu/fold.h"
#include "math/number.h"

namespace paddle_mini {

struct Larger {
  template <class T>
  PM_DEVICE T operator()(T a, T b) const {
    return maximum(a, b);
  }
};

// A thread's share of a line: elements lane, lane + lanes and so on; element i is at `begin` + i * inner.
struct LinePart {
  int64_t line, begin, size;  // size 0 if the line does not exist
  bool exists;
  int lane;  // index among the line's threads
};

// Base class of kernel bodies that work on lines.
struct Lines {
  static constexpr bool syncs = true;
  int64_t count, size, inner;  // number of lines, their length, the stride of their elements
  fold_gpu::Shares shares;

  Lines(int64_t outer, int64_t size, int64_t inner)
      : count(outer * inner), size(size), inner(inner), shares(fold_gpu::shares(count, size, inner == 1, kWorkspace)) {}

  // Calls f(LinePart) for each line. All threads of a block call it together.
  template <class F>
  PM_DEVICE void each(F f) const {
    const int results = shares.results(), lane = shares.lane(), mine = shares.mine();
    for (int64_t block = block_index(); block < (count + results - 1) / results; block += block_count()) {
      int64_t line = block * results + mine;
      bool exists = line < count;
      f(LinePart{line, line / inner * size * inner + line % inner, exists ? size : 0, exists, lane});
    }
  }
  // Calls f(offset, index in the line) for the thread's elements.
  template <class F>
  PM_DEVICE void each_element(const LinePart& part, F f) const {
    for (int64_t i = part.lane; i < part.size; i += shares.lanes) f(part.begin + i * inner, i);
  }
  // The fold of the values of all of the line's threads.
  template <class A, class Join>
  PM_DEVICE A fold_line(A* shared, const LinePart&, A value, Join join) const {
    return fold_gpu::fold_lanes(shared, shares, value, join);
  }
  int64_t blocks() const { return std::min((count + shares.results() - 1) / shares.results(), kMostBlocks); }
};

// For element i of [outer, size, inner]: its line, and its index in the line.
struct LinePlace {
  int64_t line, at;
};
PM_DEVICE inline LinePlace line_place(int64_t i, int64_t size, int64_t inner) {
  if (i <= INT32_MAX && size <= INT32_MAX && inner <= INT32_MAX) {  // for faster division
    auto n = static_cast<uint32_t>(inner), s = static_cast<uint32_t>(size), k = static_cast<uint32_t>(i), row = k / n;
    return {row / s * inner + k % n, row % s};
  }
  return {i / inner / size * inner + i % inner, i / inner % size};
}

// Two sums in one fold.
struct TwoSums {
  double first, second;
};
struct PlusBoth {
  PM_DEVICE TwoSums operator()(const TwoSums& a, const TwoSums& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace paddle_mini
