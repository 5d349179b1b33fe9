// Merge sort along lines of elements on a GPU; each thread computes the position of one element in the merged run.
#pragma once

#include "math/axis_lines.h"
#include "math/for_each_index.h"

namespace paddle_mini {

namespace sort_gpu {

inline constexpr int64_t kRun = 16;  // length of the initial runs, sorted by counting

// before(line, a, b): whether the line's element at a precedes the one at b. No two elements are equal.
template <class Before>
struct ByCounting {
  int64_t length;
  Before before;
  int64_t* order;  // [line][rank]

  PM_HD void operator()(int64_t i) const {
    int64_t line = i / length, at = i % length, begin = at / kRun * kRun, place = begin;
    for (int64_t other = begin; other < begin + kRun && other < length; ++other) place += before(line, other, at);
    order[line * length + place] = at;
  }
};

// Merges pairs of runs of `run` elements.
template <class Before>
struct MergeRuns {
  int64_t length, run;
  Before before;
  const int64_t* from;
  int64_t* to;

  PM_HD void operator()(int64_t i) const {
    int64_t line = i / length, place = i % length, pair = place / (2 * run) * (2 * run);
    const int64_t* order = from + line * length;
    int64_t middle = pair + run < length ? pair + run : length, end = middle + run < length ? middle + run : length;
    bool first = place < middle;
    // Counts the other run's elements that precede it: all below `low` do, none from `high` on.
    int64_t other = first ? middle : pair, low = other, high = first ? end : middle;
    while (low < high) {
      int64_t half = low + (high - low) / 2;
      if (before(line, order[half], order[place])) low = half + 1;
      else high = half;
    }
    to[line * length + pair + (place - (first ? pair : middle)) + (low - other)] = order[place];
  }
};

}  // namespace sort_gpu

// Sorted positions along each line, [line][rank]; returns `order` or `spare`, which have equal size.
template <class Before>
const int64_t* sorted_lines(KernelContext& context, int64_t lines, int64_t length, Before before, int64_t* order,
                            int64_t* spare) {
  for_each_index(context, lines * length, sort_gpu::ByCounting<Before>{length, before, order});
  for (int64_t run = sort_gpu::kRun; run < length; run *= 2) {
    for_each_index(context, lines * length, sort_gpu::MergeRuns<Before>{length, run, before, order, spare});
    std::swap(order, spare);
  }
  return order;
}

}  // namespace paddle_mini
