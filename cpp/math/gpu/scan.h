// Scans along lines of elements on a GPU: prefix sums and the like.
#pragma once

#include "cuda/launch.h"
#include "math/axis_lines.h"

namespace paddle_mini {

namespace scan_gpu {

// Calls put(at, the fold by join of get(a) over the elements up to `at`); an exclusive scan excludes `at` itself.
template <class A, class Get, class Join, class Put>
struct Scan {
  AxisLines lines;
  bool reverse, exclusive;
  A first;
  Get get;
  Join join;
  Put put;

  PM_DEVICE int64_t at(int64_t begin, int64_t j) const {
    return begin + (reverse ? lines.length - 1 - j : j) * lines.inner;
  }
};

// One thread scans a line.
template <class S>
struct ByThreads {
  S s;
  int64_t count;
  PM_DEVICE void operator()() const {
    for (int64_t line = block_index() * kThreads + thread_index(); line < count; line += block_count() * kThreads) {
      int64_t begin = s.lines.begin_of(line);
      auto total = s.first;
      for (int64_t j = 0; j < s.lines.length; ++j) {
        int64_t at = s.at(begin, j);
        auto before = total;
        total = s.join(total, s.get(at));
        s.put(at, s.exclusive ? before : total);
      }
    }
  }
};

// One block scans a line, 256 elements at a time.
template <class S, class A>
struct ByBlocks {
  static constexpr bool syncs = true;
  S s;
  int64_t count;
  PM_DEVICE void operator()() const {
    PM_SHARED A shared[kThreads];
    int t = thread_index();
    for (int64_t line = block_index(); line < count; line += block_count()) {
      int64_t begin = s.lines.begin_of(line);
      A carry = s.first;
      for (int64_t from = 0; from < s.lines.length; from += kThreads) {
        int64_t at = from + t < s.lines.length ? s.at(begin, from + t) : -1;
        A mine = at >= 0 ? s.get(at) : s.first;
        for (int apart = 1; apart < kThreads; apart *= 2) {
          shared[t] = mine;
          sync_block();
          if (t >= apart) mine = s.join(shared[t - apart], mine);
          sync_block();
        }
        shared[t] = s.join(carry, mine);
        sync_block();
        if (at >= 0) s.put(at, !s.exclusive ? shared[t] : t > 0 ? shared[t - 1] : carry);
        carry = shared[kThreads - 1];
        sync_block();
      }
    }
  }
};

}  // namespace scan_gpu

// `first` is the neutral element of join.
template <class A, class Get, class Join, class Put>
void scan(KernelContext& context, const AxisLines& lines, bool reverse, bool exclusive, A first, Get get, Join join,
          Put put) {
  using S = scan_gpu::Scan<A, Get, Join, Put>;
  S s{lines, reverse, exclusive, first, get, join, put};
  int64_t count = lines.count();
  bool by_blocks = lines.length > 64 && (lines.inner == 1 || count < 4096);
  if (by_blocks) launch(context, std::min(count, kMostBlocks), scan_gpu::ByBlocks<S, A>{s, count});
  else launch(context, blocks_for(count), scan_gpu::ByThreads<S>{s, count});
}

}  // namespace paddle_mini
