// Lines of elements along an axis on a GPU: some threads of a block share each line.
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

// What a thread has of a line: its elements lane, lane + lanes and so on, those at `begin` + element * inner.
struct LinePart {
  int64_t line, begin, size;  // of no line: size 0
  bool exists;
  int lane, mine;  // which of the line's threads, and which of the block's lines
};

// What a body over lines derives from.
struct Lines {
  static constexpr bool syncs = true;
  int64_t count, size, inner;  // lines, their length, the distance of their elements
  fold_gpu::Shares shares;

  Lines(int64_t outer, int64_t size, int64_t inner)
      : count(outer * inner), size(size), inner(inner), shares(fold_gpu::shares(count, size, inner == 1, kWorkspace)) {}

  // f(LinePart): all threads of a block call it together.
  template <class F>
  PM_DEVICE void each(F f) const {
    int t = thread_index(), results = kThreads / shares.lanes;
    int lane = shares.along_fold ? t % shares.lanes : t / results;
    int mine = shares.along_fold ? t / shares.lanes : t % results;
    for (int64_t block = block_index(); block < (count + results - 1) / results; block += block_count()) {
      int64_t line = block * results + mine;
      bool exists = line < count;
      f(LinePart{line, line / inner * size * inner + line % inner, exists ? size : 0, exists, lane, mine});
    }
  }
  // f(where it lies, which of the line it is) for the elements of a thread.
  template <class F>
  PM_DEVICE void each_element(const LinePart& part, F f) const {
    for (int64_t i = part.lane; i < part.size; i += shares.lanes) f(part.begin + i * inner, i);
  }
  // The fold of the values that the line's threads have.
  template <class A, class Join>
  PM_DEVICE A fold_line(A* shared, const LinePart& part, A value, Join join) const {
    return fold_gpu::fold_lanes(shared, shares.lanes, kThreads / shares.lanes, part.lane, part.mine, value, join);
  }
  int64_t blocks() const { return std::min((count + shares.results() - 1) / shares.results(), kMostBlocks); }
};

// Of element i of [outer, size, inner]: its line, and which of the line's elements it is.
struct LinePlace {
  int64_t line, at;
};
PM_DEVICE inline LinePlace line_place(int64_t i, int64_t size, int64_t inner) {
  if (i <= INT32_MAX && size <= INT32_MAX && inner <= INT32_MAX) {  // divides several times faster
    auto n = static_cast<uint32_t>(inner), s = static_cast<uint32_t>(size), k = static_cast<uint32_t>(i), row = k / n;
    return {row / s * inner + k % n, row % s};
  }
  return {i / inner / size * inner + i % inner, i / inner % size};
}

// Two sums at once.
struct TwoSums {
  double first, second;
};
struct PlusBoth {
  PM_DEVICE TwoSums operator()(const TwoSums& a, const TwoSums& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace paddle_mini
