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
  int results() const { return kThreads / lanes; }
};

inline Shares shares(int64_t results, int64_t length, bool along_fold, size_t bytes) {
  Shares s;
  s.along_fold = along_fold;
  int most = along_fold ? kThreads : 8;  // with 8 lanes, 32 adjacent threads read together
  while (s.lanes < most && s.lanes * (along_fold ? 1 : 16) < length) s.lanes *= 2;
  int64_t blocks = (results + s.results() - 1) / s.results();
  auto room = static_cast<int64_t>(kWorkspace / bytes);
  while (blocks * s.slices < 512 && s.slices * s.lanes * 32 < length && 2 * s.slices * results <= room) s.slices *= 2;
  return s;
}

// Returns the fold over all lanes of a result to each of them. All threads of the block must call it.
template <class A, class Join>
PM_DEVICE A fold_lanes(A* shared, int lanes, int results, int lane, int mine, A value, Join join) {
  shared[lane * results + mine] = value;
  for (int half = lanes / 2; half > 0; half /= 2) {
    sync_block();
    if (lane >= half) continue;
    A& to = shared[lane * results + mine];
    to = join(to, shared[(lane + half) * results + mine]);
  }
  sync_block();
  A total = shared[mine];
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
  int lanes, results;
  int64_t slices;
  bool along_fold;

  PM_DEVICE void operator()() const {
    PM_SHARED A shared[kThreads];
    int t = thread_index();
    int lane = along_fold ? t % lanes : t / results, mine = along_fold ? t / lanes : t % results;
    int64_t blocks = (remaining.count + results - 1) / results * slices;
    for (int64_t task = block_index(); task < blocks; task += block_count()) {
      int64_t slice = task % slices, o = task / slices * results + mine;
      A value = o < remaining.count ? fold(o, slice * lanes + lane) : first;
      A total = fold_lanes(shared, lanes, results, lane, mine, value, join);
      if (lane != 0 || o >= remaining.count) continue;
      if (slices == 1) put(o, total);
      else partial[slice * remaining.count + o] = total;
    }
  }

  PM_DEVICE A fold(int64_t o, int64_t from) const {
    int64_t base[arrays] = {};
    remaining.move(o, base);
    A total = first;
    for (int64_t i = from; i < folded.count; i += lanes * slices) {
      int64_t offsets[arrays];
      for (int array = 0; array < arrays; ++array) offsets[array] = base[array];
      folded.move(i, offsets);
      total = join(total, static_cast<A>(get(offsets)));
    }
    return total;
  }
};

// Combines the slices.
template <class A, class Join, class Put>
struct Slices {
  const A* partial;
  int64_t slices, results;
  Join join;
  Put put;

  PM_DEVICE void operator()() const {
    for (int64_t o = block_index() * kThreads + thread_index(); o < results; o += block_count() * kThreads) {
      A total = partial[o];
      for (int64_t slice = 1; slice < slices; ++slice) total = join(total, partial[slice * results + o]);
      put(o, total);
    }
  }
};

}  // namespace fold_gpu

// Calls put(o, A) with the fold by join, starting from `first`, of get(offsets). `remaining` gives the offset in each
// array at which the fold of result o begins, `folded` the offsets of its elements from there.
template <class A, int arrays, class Get, class Join, class Put>
void fold(KernelContext& context, const StridedIndex<arrays>& remaining, const StridedIndex<arrays>& folded, A first,
          Get get, Join join, Put put) {
  if (remaining.count == 0) return;
  bool along = remaining.rank == 0 || (folded.rank > 0 && folded.step[arrays - 1][0] < remaining.step[arrays - 1][0]);
  fold_gpu::Shares s = fold_gpu::shares(remaining.count, folded.count, along, sizeof(A));
  A* partial = s.slices > 1 ? static_cast<A*>(workspace(context)) : nullptr;
  int64_t blocks = (remaining.count + s.results() - 1) / s.results() * s.slices;
  using Body = fold_gpu::Body<A, arrays, Get, Join, Put>;
  launch(context, std::min(blocks, kMostBlocks),
         Body{remaining, folded, get, join, put, first, partial, s.lanes, s.results(), s.slices, along});
  if (s.slices == 1) return;
  launch(context, blocks_for(remaining.count),
         fold_gpu::Slices<A, Join, Put>{partial, s.slices, remaining.count, join, put});
}

// Accumulator type for sums of T.
template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, T>;

}  // namespace paddle_mini
