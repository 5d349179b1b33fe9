// The compilation target: a CPU or, if nvcc or a check on the host defines PM_GPU, a GPU. Only this file selects between
// devices.
#pragma once

// clang-format off: spaces in a path are read as they stand
// #include PM_LAUNCHERS(map) is math/cpu/map.h or math/gpu/map.h: the same functions for each device.
// #include PM_KERNELS(adam) is ops/adam_cpu.h or ops/adam_gpu.h: what an operator does on this device;
// PM_FAMILY(top_k) the same for a family, in ops/family.
#define PM_QUOTED(path) #path
#ifdef PM_GPU
#define PM_LAUNCHERS(name) PM_QUOTED(math/gpu/name.h)
#define PM_KERNELS(name) PM_QUOTED(ops/name##_gpu.h)
#define PM_FAMILY(name) PM_QUOTED(ops/family/name##_gpu.h)
#else
#define PM_LAUNCHERS(name) PM_QUOTED(math/cpu/name.h)
#define PM_KERNELS(name) PM_QUOTED(ops/name##_cpu.h)
#define PM_FAMILY(name) PM_QUOTED(ops/family/name##_cpu.h)
#endif
// clang-format on

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
