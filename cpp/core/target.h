// The compilation target of this file: the CPU, or a GPU if nvcc or the emulation on the host defines PM_GPU.
#pragma once

namespace paddle_mini {
#ifdef PM_GPU
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif
}  // namespace paddle_mini

#ifdef __CUDACC__
#define PM_HD __host__ __device__  // for functors: they run in a loop on the host and in a kernel on a GPU
#else
#define PM_HD
#endif
