// Folds on a GPU: reductions such as sums over some axes. The order of evaluation depends only on the sizes, so results
// are deterministic.
#pragma once

#include "cuda/launch.h"
#include "cuda/workspace.h"
#include "math/arithmetic.h"
#include "math/gpu/strided_index.h"

namespace paddle_mini {

namespace fold_gpu {

// Distribution of work in a block: `lanes` threads, a power of 2, fold one result together.
struct Shares {
  int lanes = 1;
  int64_t slices = 1;  // segments of a fold, computed by different blocks
  bool along_fold = false;  // adjacent threads read adjacent elements of one fold, not of several
  PM_HD int results() const { return kThreads / lanes; }
  PM_DEVICE int lane() const { return along_fold ? thread_index() % lanes : thread_index() / results(); }
  PM_DEVICE int mine() const { return along_fold ? thread_index() / lanes : thread_index() % results(); }
};

inline Shares shares(int64_t results, int64_t length, bool along_fold, size_t bytes) {
  Shares s;
  s.along_fold = along_fold;
  int most = along_fold ? kThreads : 8;  // with 8 lanes, 32 adjacent threads read together
  while (s.lanes < most && s.lanes * (along_fold ? 4 : 16) < length) s.lanes *= 2;
  int64_t blocks = (results + s.results() - 1) / s.results();
  auto room = static_cast<int64_t>(kWorkspace / bytes);
  // Several slices need a second launch, so a thread must have had 32 elements before; then 8 are enough.
  auto is_long = [&] { return s.slices * s.lanes * (s.slices == 1 ? 32 : 8) < length; };
  while (blocks * s.slices < kMostBlocks && is_long() && 2 * s.slices * results <= room) s.slices *= 2;
  return s;
}

// Returns the fold over all lanes of a result to each of them. All threads of the block must call it.
template <class A, class Join>
PM_DEVICE A fold_lanes(A* shared, const Shares& s, A value, Join join) {
  const int t = thread_index(), lane = s.lane();
  const int apart = s.along_fold ? 1 : s.results();  // the distance between two lanes of a result
  shared[t] = value;
  for (int half = s.lanes / 2; half > 0; half /= 2) {
    sync_block();
    if (lane < half) shared[t] = join(shared[t], shared[t + half * apart]);
  }
  sync_block();
  A total = shared[t - lane * apart];
  sync_block();
  return total;
}

// Calls put(o, the fold of get(offsets) over `folded`, relative to the offsets of o in `remaining`)
template <class A, int arrays, class Get, class Join, class Put>
struct Body {
  static constexpr bool syncs = true;
  StridedIndex<arrays> remaining, folded;
  Get get;
  Join join;
  Put put;
  A first;
  A* partial;  // if there are several slices: [slice][result]
  Shares shares;

  PM_DEVICE void operator()() const {
    PM_SHARED A shared[kThreads];
    const int results = shares.results();
    const int64_t slices = shares.slices, blocks = (remaining.count + results - 1) / results * slices;
    for (int64_t task = block_index(); task < blocks; task += block_count()) {
      int64_t slice = task % slices, o = task / slices * results + shares.mine();
      A value = o < remaining.count ? fold(o, slice * shares.lanes + shares.lane()) : first;
      A total = fold_lanes(shared, shares, value, join);
      if (shares.lane() != 0 || o >= remaining.count) continue;
      if (slices == 1) put(o, total);
      else partial[slice * remaining.count + o] = total;
    }
  }

  PM_DEVICE A fold(int64_t o, int64_t i) const {
    constexpr int kTogether = 4;  // elements that are read before the first is joined
    const int64_t step = shares.lanes * shares.slices;
    int64_t base[arrays] = {};
    remaining.move(o, base);
    A total = first;
    for (; i + (kTogether - 1) * step < folded.count; i += kTogether * step) {
      A values[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k) values[k] = value(base, i + k * step);
#pragma unroll
      for (int k = 0; k < kTogether; ++k) total = join(total, values[k]);
    }
    for (; i < folded.count; i += step) total = join(total, value(base, i));
    return total;
  }

  PM_DEVICE A value(const int64_t (&base)[arrays], int64_t i) const {
    int64_t offsets[arrays];
    for (int array = 0; array < arrays; ++array) offsets[array] = base[array];
    folded.move(i, offsets);
    return static_cast<A>(get(offsets));
  }
};

// The fold of one slice.
template <class A>
struct Partial {
  const A* partial;
  PM_DEVICE A operator()(const int64_t (&offsets)[1]) const { return partial[offsets[0]]; }
};

}  // namespace fold_gpu

// Calls put(o, A) with the fold by join, starting from `first`, of get(offsets). `remaining` gives the offset in each
// array at which the fold of result o begins, `folded` the offsets of its elements from there.
template <class A, int arrays, class Get, class Join, class Put>
void fold(KernelContext& context, const StridedIndex<arrays>& remaining, const StridedIndex<arrays>& folded, A first,
          Get get, Join join, Put put) {
  if (remaining.count == 0) return;
  using namespace fold_gpu;
  bool along = remaining.rank == 0 || (folded.rank > 0 && folded.step[arrays - 1][0] < remaining.step[arrays - 1][0]);
  const Shares s = shares(remaining.count, folded.count, along, sizeof(A));
  A* partial = s.slices > 1 ? static_cast<A*>(workspace(context)) : nullptr;
  int64_t blocks = (remaining.count + s.results() - 1) / s.results() * s.slices;
  launch(context, std::min(blocks, kMostBlocks),
         Body<A, arrays, Get, Join, Put>{remaining, folded, get, join, put, first, partial, s});
  if (s.slices == 1) return;
  StridedIndex<1> results, parts;
  const int64_t apart = remaining.count;  // nvcc does not accept the member in a list
  results.add(remaining.count, {1});
  parts.add(s.slices, {apart});
  Shares last;
  last.along_fold = remaining.count < kThreads;  // few results: a block for each
  while (last.lanes < (last.along_fold ? kThreads : 8) && last.lanes < s.slices) last.lanes *= 2;
  launch(context, std::min((remaining.count + last.results() - 1) / last.results(), kMostBlocks),
         Body<A, 1, Partial<A>, Join, Put>{results, parts, {partial}, join, put, first, nullptr, last});
}

// Accumulator type for sums of T.
template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, T>;

}  // namespace paddle_mini
