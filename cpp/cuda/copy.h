// Copies in the order of launches.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// From memory of the device to memory of the device.
void copy_bytes(Device& device, const void* from, size_t bytes, void* to);
// Rows of `bytes` that are the steps apart.
void copy_rows(Device& device, int64_t rows, size_t bytes, const void* from, size_t from_step, void* to,
               size_t to_step);
// From the host's memory, which may change as soon as this returns.
void upload(Device& device, const void* from, size_t bytes, void* to);

// To the host's memory, where it is when this returns.
void download(Device& device, const void* from, size_t bytes, void* to);

// Launches may be recorded and repeated (Accelerator::record): whoever does something else each time, such as drawing
// numbers on the host, asks for this before. DeviceError while they are recorded.
void require_not_recorded(const Device& device);

}  // namespace paddle_mini
