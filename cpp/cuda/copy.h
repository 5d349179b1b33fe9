// Copies in the order of kernel launches.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// Device to device.
void copy_bytes(KernelContext& context, const void* from, size_t bytes, void* to);
// Copies rows of `bytes` each, which begin from_step and to_step bytes apart.
void copy_rows(KernelContext& context, int64_t rows, size_t bytes, const void* from, size_t from_step, void* to,
               size_t to_step);
// Host to device. The host memory may change as soon as this returns.
void upload(KernelContext& context, const void* from, size_t bytes, void* to);

// Device to host. The data are there when this returns.
void download(KernelContext& context, const void* from, size_t bytes, void* to);

// Throws DeviceError while launches are recorded for repetition (Device::record). Work that differs each time,
// such as drawing random numbers on the host, calls this first.
void require_not_recorded(const KernelContext& context);

}  // namespace paddle_mini
