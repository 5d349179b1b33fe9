// Host memory for tensors: aligned to 64 bytes, shared by whoever views it.
#pragma once

#include <cstddef>
#include <memory>

namespace paddle_mini {

inline constexpr size_t kAlignment = 64;
inline size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Arrays that begin at the same place of a page of 4 KiB make a loop over them slow: a processor takes a load for one that
// must wait for the store, to another array, whose address has the same low bits (measured: Adam's step on 32 M
// parameters 49 -> 33 ms). So large arrays that are used together, and each allocated alone, begin this far apart.
inline constexpr size_t kApart = 17 * kAlignment;

// a + b bytes; DeviceError when no machine has that much, so that a sum of sizes can't come round to 0.
size_t checked_sum(size_t a, size_t b);

// Uninitialised memory; DeviceError when the machine does not have it. Never null, also for 0 bytes.
std::shared_ptr<void> allocate(size_t bytes);
void* allocate_plain(size_t bytes);  // the same, for std::free

}  // namespace paddle_mini
