// Stable sort of keys on a GPU.
#pragma once

#include <utility>

#include "math/for_each_index.h"

namespace paddle_mini {

struct KeyAt {
  int64_t key, at;  // at: the key's original position
};

namespace order_gpu {

template <class Keys>
struct Begin {
  Keys keys;
  KeyAt* to;
  PM_DEVICE void operator()(int64_t i) const { to[i] = {keys[i], i}; }
};

// One step of merge sort: each element of two adjacent sorted runs computes its position in the merged run.
struct Merge {
  const KeyAt* from;
  KeyAt* to;
  int64_t n, run;

  PM_DEVICE void operator()(int64_t i) const {
    KeyAt mine = from[i];
    int64_t begin = i / run * run;
    bool right = begin / run % 2 == 1;
    int64_t low = right ? begin - run : begin + run, other = low, high = low + run < n ? low + run : n;
    while (low < high) {  // counts the other run's elements that precede it
      int64_t middle = low + (high - low) / 2, key = from[middle].key;
      if (key < mine.key || (right && key == mine.key)) low = middle + 1;
      else high = middle;
    }
    to[(right ? other : begin) + (i - begin) + (low - other)] = mine;
  }
};

}  // namespace order_gpu

// `a` and `b` are buffers for n elements; returns the one that contains keys[0] to keys[n - 1] sorted.
template <class Keys>
const KeyAt* in_order(KernelContext& context, int64_t n, const Keys& keys, KeyAt* a, KeyAt* b) {
  for_each_index(context, n, order_gpu::Begin<Keys>{keys, a});
  for (int64_t run = 1; run < n; run *= 2) {
    for_each_index(context, n, order_gpu::Merge{a, b, n, run});
    std::swap(a, b);
  }
  return a;
}

}  // namespace paddle_mini
