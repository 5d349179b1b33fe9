// Copies in the order of launches.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

// From memory of the device to memory of the device.
void copy_bytes(Device& device, const void* from, size_t bytes, void* to);
// From the host's memory, which may change as soon as this returns.
void upload(Device& device, const void* from, size_t bytes, void* to);

}  // namespace paddle_mini
