// What this file is compiled for: the processor, or a GPU (PM_GPU is defined then, by nvcc or for a check on the host).
#pragma once

namespace paddle_mini {
#ifdef PM_GPU
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif
}  // namespace paddle_mini

#ifdef __CUDACC__
#define PM_HD __host__ __device__  // of a functor: runs in a loop on the host and in a kernel on a GPU
#else
#define PM_HD
#endif
