// SegmentedScatter: scatters sources to targets on a GPU. Sources are sorted by target, so that each target combines
// its sources in their original order and sums are deterministic.
#pragma once

#include "math/for_each_index.h"

namespace paddle_mini {

namespace segmented_scatter_gpu {

struct Pair {
  int64_t target, source;
  PM_DEVICE bool before(const Pair& other) const {
    return target != other.target ? target < other.target : source < other.source;
  }
};

PM_DEVICE inline void order(Pair& a, Pair& b, bool up) {
  if (up ? !b.before(a) : !a.before(b)) return;
  Pair kept = a;
  a = b, b = kept;
}

// Bitonic sort (Batcher 1968): steps `first` to `last`, among neighbours that fit into a block.
struct SortNear {
  static constexpr bool syncs = true;
  static constexpr int kMost = 1024;
  Pair* pairs;
  int64_t count, first, last;

  PM_DEVICE void operator()() const {
    PM_SHARED Pair part[kMost];
    int size = count < kMost ? static_cast<int>(count) : kMost;
    for (int64_t base = block_index() * size; base < count; base += block_count() * size) {
      for (int i = thread_index(); i < size; i += kThreads) part[i] = pairs[base + i];
      sync_block();
      for (int64_t k = first; k <= last; k *= 2) {
        for (int j = static_cast<int>(k < size ? k : size) / 2; j > 0; j /= 2) {
          for (int i = thread_index(); i < size / 2; i += kThreads) {
            int low = i / j * 2 * j + i % j;
            order(part[low], part[low + j], ((base + low) & k) == 0);
          }
          sync_block();
        }
      }
      for (int i = thread_index(); i < size; i += kThreads) pairs[base + i] = part[i];
      sync_block();
    }
  }
};

struct SortFar {
  Pair* pairs;
  int64_t k, j;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t low = i / j * 2 * j + i % j;
    order(pairs[low], pairs[low + j], (low & k) == 0);
  }
};

template <class Target>
struct Fill {
  Target target;
  int64_t sources;
  Pair* pairs;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t found = i < sources ? target(i) : -1;
    pairs[i] = {found < 0 ? INT64_MAX : found, i};
  }
};

// The first pair with this target, or the place where it would be.
PM_DEVICE inline int64_t first_of(const Pair* pairs, int64_t count, int64_t target) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (pairs[middle].target < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

// How a target combines its sources.
enum class Combine {
  Sum,         // their sum
  AddTo,       // their sum plus the previous value
  Last,        // the last of them; the previous value if there is none
  SumInstead,  // their sum; the previous value if there is none
};

// Targets [rows, length, width], sources [rows, sources, width].
template <class T, Combine combine>
struct Put {
  const Pair* pairs;
  int64_t count, sources, length, width;
  const T *before, *from;
  T* to;

  PM_DEVICE int64_t first(int64_t target) const { return first_of(pairs, count, target); }

  PM_DEVICE void operator()(int64_t i) const {
    int64_t target = i / width % length, row = i / width / length;
    int64_t at = first(target);
    bool any = at < count && pairs[at].target == target;
    T total = combine == Combine::AddTo || (combine != Combine::Sum && !any) ? before[i] : T(0);
    for (; at < count && pairs[at].target == target; ++at) {
      T one = from[(row * sources + pairs[at].source) * width + i % width];
      total = combine == Combine::Last ? one : static_cast<T>(total + one);
    }
    to[i] = total;
  }
};

}  // namespace segmented_scatter_gpu

class SegmentedScatter {
 public:
  using Combine = segmented_scatter_gpu::Combine;
  using Pair = segmented_scatter_gpu::Pair;

  SegmentedScatter(KernelInit& init, int64_t sources) : sources_(sources), pairs_(init, 2 * power_of_2(sources)) {}

  // target(source) is -1 if the source has no target.
  template <class Target>
  void sort(KernelContext& context, const Target& target) const {
    using namespace segmented_scatter_gpu;
    const int64_t count = power_of_2(sources_), near = std::min<int64_t>(count, SortNear::kMost);
    const int64_t blocks = std::min(count / near, kMostBlocks);
    for_each_index(context, count, Fill<Target>{target, sources_, pairs()});
    launch(context, blocks, SortNear{pairs(), count, 2, near});
    for (int64_t k = 2 * near; k <= count; k *= 2) {
      for (int64_t j = k / 2; j >= near; j /= 2) for_each_index(context, count / 2, SortFar{pairs(), k, j});
      launch(context, blocks, SortNear{pairs(), count, k, k});
    }
  }

  // Requires sort(). Scatters to [rows, length, width] from [rows, sources, width].
  template <Combine combine, class T>
  void put(KernelContext& context, int64_t rows, int64_t length, int64_t width, const T* before, const T* from,
           T* to) const {
    segmented_scatter_gpu::Put<T, combine> put{pairs(), sources_, sources_, length, width, before, from, to};
    for_each_index(context, rows * length * width, put);
  }

  Pair* pairs() const { return reinterpret_cast<Pair*>(pairs_.data()); }
  int64_t sources() const { return sources_; }

 private:
  static int64_t power_of_2(int64_t n) {
    int64_t power = 1;
    while (power < n) power *= 2;
    return power;
  }

  int64_t sources_;
  Scratch<int64_t> pairs_;
};

}  // namespace paddle_mini
