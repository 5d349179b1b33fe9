// Host memory for tensors: aligned to 64 bytes and reference-counted.
#pragma once

#include <cstddef>
#include <memory>

namespace paddle_mini {

inline constexpr size_t kAlignment = 64;
inline size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Arrays that begin at the same offset in a 4 KiB page make a loop over them slow (4K aliasing): the CPU treats a load
// as dependent on a store to another array whose address has the same low bits (measured: Adam's step on 32 M
// parameters 49 -> 33 ms). Large arrays that are used together, and each allocated alone, therefore begin this far
// apart.
inline constexpr size_t kApart = 17 * kAlignment;

// a + b bytes. Throws DeviceError if no machine has that much, so a sum of sizes can't wrap around to 0.
size_t checked_sum(size_t a, size_t b);

// Allocates uninitialised memory, never null, even for 0 bytes. Throws DeviceError if the machine does not have it.
std::shared_ptr<void> allocate(size_t bytes);
void* allocate_plain(size_t bytes);  // the same, to be freed by std::free

}  // namespace paddle_mini
