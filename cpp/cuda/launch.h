// Launching kernels. A kernel is the call operator of a functor, its body: blocks of 256 threads in one row.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/kernel.h"
#include "core/target.h"
#include "cuda/runtime_api.h"

namespace paddle_mini {

inline constexpr int kThreads = 256;
// More blocks gain nothing, as bodies go on from block to block; and sums have the same order on every GPU.
inline constexpr int64_t kMostBlocks = 2048;

#ifdef __CUDACC__
#define PM_DEVICE __device__
#define PM_SHARED __shared__  // of a variable: the threads of a block share it
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

// Bodies whose threads wait for each other say `static constexpr bool syncs = true`: the emulation needs to know.
template <class Body, class = void>
inline constexpr bool body_syncs = false;
template <class Body>
inline constexpr bool body_syncs<Body, std::void_t<decltype(Body::syncs)>> = Body::syncs;

inline cudaStream_t stream_of(const Device& device) { return static_cast<cudaStream_t>(device.stream); }

// Runs the body in this many blocks, after what waits in a batch. An error is met by the queue (cuda/stream_queue.h).
template <class Body>
void launch_now(Device& device, int64_t blocks, const Body& body) {
  if (blocks <= 0) return;
#ifdef __CUDACC__
  run_body<<<static_cast<unsigned>(blocks), kThreads, 0, stream_of(device)>>>(body);
#else
  (void)device;
  emulation::launch([blocks, body] {
    auto call = [](const void* argument) { (*static_cast<const Body*>(argument))(); };
    emulation::run_blocks(blocks, kThreads, body_syncs<Body>, call, &body);
  });
#endif
}

template <class Body>
void launch(Device& device, int64_t blocks, const Body& body) {
  device.launch_waiting();
  launch_now(device, blocks, body);
}

inline int64_t blocks_for(int64_t threads) { return std::min((threads + kThreads - 1) / kThreads, kMostBlocks); }

}  // namespace paddle_mini
