// parallel_for: splits the loop of a kernel among threads. Kernels state what one item costs; loops that are too short to
// gain run on the calling thread.
//
// Results never depend on the number of threads: the items of a loop are independent, so no item reads what another one
// writes. A sum is split into items by its size alone, and the sums of items are added in order afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/kernel.h"
#include "core/thread_pool.h"

namespace paddle_mini {

// The expected time of one item in nanoseconds on one core. A factor of two more or less does no harm.
constexpr double bytes_cost(double bytes) { return bytes / 40; }  // data between caches and registers
constexpr double flops_cost(double flops) { return flops / 64; }  // vectorized arithmetic

struct LoopSize {
  int64_t items;
  double cost;  // for one item; 0: the loop is not split, and loops inside it may be
  int64_t unit = 1;  // ranges begin at multiples of it
  int lanes = ThreadPool::kMostThreads;  // at most this many threads take part
};

// A loop is not split into ranges of less than this part of the least loop that is split.
constexpr double kLeastRange = 0.4;
// A range of more than this time would let an interruption wait too long.
constexpr double kMostRange = 1e6;
// More ranges than threads, so that a thread that starts late takes fewer of them.
constexpr int64_t kRangesPerThread = 4;

// The least_loop of new kernel contexts: kLeastLoop, or what a test has set in order to split short loops.
double least_loop();
void set_least_loop(double nanoseconds);

// Into how many slices each of `items` is cut, so that there are about `wanted` slices in all; at most `most`.
inline int64_t slices_per_item(int64_t items, int64_t wanted, int64_t most) {
  return std::clamp<int64_t>(wanted / std::max<int64_t>(items, 1), 1, std::max<int64_t>(most, 1));
}

// The number of ranges of a loop of this many units and this expected time, if loops of less than `least_loop` are not
// split.
int64_t ranges_of(double least_loop, int threads, int64_t units, double time);

// Implements parallel_for: run(body, begin, end, lane).
void run_ranges(KernelContext& context, const LoopSize& size,
                void (*run)(void* body, int64_t begin, int64_t end, int lane), void* body);

// Whether parallel_for runs the loop as one range.
inline bool is_short(const KernelContext& context, const LoopSize& size) {
#ifdef PM_ONE_THREAD  // the C library of optimizers runs on its caller's thread, and is not interrupted
  static_cast<void>(context), static_cast<void>(size);
  return true;
#else
  return static_cast<double>(size.items) * size.cost < context.least_loop;
#endif
}

// Calls f(begin, end), or f(begin, end, lane), for consecutive ranges of [0, items), on several threads at once. No two
// ranges run at the same time with the same lane, 0 <= lane < min(context.threads, size.lanes), so a lane can have scratch
// memory of its own. If calls throw, the error of the first range in order is rethrown after all have ended. Polls for
// interruption between ranges. A loop inside of another one is not split again.
template <class F>
void parallel_for(KernelContext& context, const LoopSize& size, F f) {
  // One function for short loops and for ranges of long ones: the code of a kernel is compiled once.
  auto run = [](void* body, int64_t begin, int64_t end, [[maybe_unused]] int lane) {
    if constexpr (std::is_invocable_v<F&, int64_t, int64_t, int>) (*static_cast<F*>(body))(begin, end, lane);
    else (*static_cast<F*>(body))(begin, end);
  };
#ifdef PM_ONE_THREAD
  static_cast<void>(context);
  if (size.items > 0) run(&f, 0, size.items, 0);
#else
  run_ranges(context, size, run, &f);
#endif
}

// The same for rows whose loops parallel_for can split too: long rows are split themselves, one after another.
template <class F>
void parallel_rows(KernelContext& context, int64_t rows, double cost_of_row, F f) {
  const bool long_rows = cost_of_row > context.least_loop * context.threads;
  parallel_for(context, {rows, long_rows ? 0 : cost_of_row}, f);
}

// The sum of f(item) over all items, added in order.
template <class F>
double sum_in_order(KernelContext& context, const LoopSize& size, F f) {
  constexpr int64_t kFew = 64;
  double few[kFew], total = 0;
  std::vector<double> many(static_cast<size_t>(size.items > kFew ? size.items : 0));
  double* sums = size.items > kFew ? many.data() : few;
  parallel_for(context, size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sums[i] = f(i);
  });
  for (int64_t i = 0; i < size.items; ++i) total += sums[i];
  return total;
}

// Scratch memory for each lane of a loop: of `count` elements, on cache lines of its own.
template <class T>
class LaneScratch {
 public:
  LaneScratch(KernelInit& init, int64_t count) : lanes_(init.threads()), memory_(init, 0) { resize(count); }
  void resize(int64_t count) {  // before the kernel is complete
    constexpr int64_t line = 64 / sizeof(T);
    step_ = (count + line - 1) / line * line;
    memory_.variable().tensor.shape[0] = lanes_ * step_;
  }
  T* data(int lane) const { return memory_.data() + lane * step_; }
  int lanes() const { return lanes_; }

 private:
  int lanes_;
  int64_t step_ = 0;
  Scratch<T> memory_;
};

}  // namespace paddle_mini
