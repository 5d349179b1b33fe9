// Splits loops into ranges, for the pool or for one thread.
#include "core/parallel.h"

#include <atomic>

#include "core/interruption.h"
#include "core/split_loops.h"

namespace paddle_mini {
namespace {

std::atomic<double> longest_split{0};
std::atomic<double> least{kLeastLoop};

void note_split(double time) {
  double longest = longest_split.load(std::memory_order_relaxed);
  while (time > longest && !longest_split.compare_exchange_weak(longest, time, std::memory_order_relaxed)) continue;
}

}  // namespace

double take_longest_split_loop() { return longest_split.exchange(0, std::memory_order_relaxed); }

double least_loop() { return least.load(std::memory_order_relaxed); }
void set_least_loop(double nanoseconds) { least = nanoseconds; }

int64_t ranges_of(double least_loop, int threads, int64_t units, double time) {
  if (time < least_loop) return 1;
  auto ranges = static_cast<int64_t>(time / kMostRange);
  if (threads > 1) {
    auto worthwhile = static_cast<int64_t>(std::min(time / (kLeastRange * least_loop), 1e9));
    ranges = std::max(ranges, std::min(threads * kRangesPerThread, worthwhile));
  }
  return std::clamp<int64_t>(units, 1, std::max<int64_t>(ranges, 1));
}

void run_ranges(KernelContext& context, const LoopSize& size,
                void (*run)(void* body, int64_t begin, int64_t end, int lane), void* body) {
  if (is_short(context, size)) {
    if (size.items > 0) run(body, 0, size.items, 0);
    return;
  }
  const double time = static_cast<double>(size.items) * size.cost;
  const int threads = ThreadPool::inside_loop() ? 1 : std::min(context.threads, size.lanes);
  const int64_t units = (size.items + size.unit - 1) / size.unit,
                ranges = ranges_of(context.least_loop, threads, units, time);
  auto range = [&](int64_t i, int lane) {
    run(body, units * i / ranges * size.unit, std::min(units * (i + 1) / ranges * size.unit, size.items), lane);
  };
  if (threads > 1 && ranges > 1) {
    note_split(time);
    auto chunk = [](void* range_of, int64_t i, int lane) { (*static_cast<decltype(range)*>(range_of))(i, lane); };
    return ThreadPool::of_process().run({ranges, chunk, &range, threads});
  }
  for (int64_t i = 0; i < ranges; ++i) {
    if (i > 0) poll_interruption();
    range(i, 0);
  }
}

}  // namespace paddle_mini
