// Launches kernels. A kernel is the call operator of a functor, its body, run by a 1-D grid of blocks of 256 threads.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/kernel.h"
#include "core/target.h"
#include "cuda/check.h"
#include "cuda/runtime_api.h"

namespace paddle_mini {

inline constexpr int kThreads = 256;
// For bodies that loop over blocks. The limit gives sums the same order on every GPU.
inline constexpr int64_t kMostBlocks = 2048;
// For bodies whose blocks share nothing: the GPU gives the next block to a multiprocessor that has ended one, so that none idles
// in a last round. The limit is that of a grid.
inline constexpr int64_t kMostFreeBlocks = INT32_MAX;

#ifdef __CUDACC__
#define PM_DEVICE __device__
#define PM_SHARED __shared__  // for variables: shared by the threads of a block
PM_DEVICE inline int thread_index() { return static_cast<int>(threadIdx.x); }
PM_DEVICE inline int64_t block_index() { return blockIdx.x; }
PM_DEVICE inline int64_t block_count() { return gridDim.x; }
PM_DEVICE inline void sync_block() { __syncthreads(); }

template <class Body>
__global__ void __launch_bounds__(kThreads) run_body(const __grid_constant__ Body body) {
  body();
}
#else
#define PM_DEVICE
#define PM_SHARED static thread_local  // blocks run one after the other
inline int thread_index() { return emulation::here.thread; }
inline int64_t block_index() { return emulation::here.block; }
inline int64_t block_count() { return emulation::here.blocks; }
inline void sync_block() { emulation::sync_block(); }
#endif

// Bodies whose threads synchronize declare `static constexpr bool syncs = true`, which the emulation needs.
template <class Body, class = void>
inline constexpr bool body_syncs = false;
template <class Body>
inline constexpr bool body_syncs<Body, std::void_t<decltype(Body::syncs)>> = Body::syncs;

inline cudaStream_t stream_of(const KernelContext& context) { return static_cast<cudaStream_t>(context.stream); }

// Runs the body in this many blocks, without launching pending batches first. The queue reports errors
// (cuda/stream_queue.h).
template <class Body>
void launch_now(KernelContext& context, int64_t blocks, const Body& body) {
  if (blocks <= 0) return;
#ifdef __CUDACC__
  run_body<<<static_cast<unsigned>(blocks), kThreads, 0, stream_of(context)>>>(body);
  check(cudaGetLastError(), "launching a kernel");  // here, as an operator loaded later has a CUDA runtime of its own
#else
  (void)context;
  emulation::launch([blocks, body] {
    auto call = [](const void* argument) { (*static_cast<const Body*>(argument))(); };
    emulation::run_blocks(blocks, kThreads, body_syncs<Body>, call, &body);
  });
#endif
}

template <class Body>
void launch(KernelContext& context, int64_t blocks, const Body& body) {
  context.launch_pending();
  launch_now(context, blocks, body);
}

inline int64_t blocks_for(int64_t threads) { return std::min((threads + kThreads - 1) / kThreads, kMostBlocks); }

}  // namespace paddle_mini
