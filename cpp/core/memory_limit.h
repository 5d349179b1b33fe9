// How much memory this process may have, and how much its tensors have.
#pragma once

#include <cstddef>
#include <string>

namespace paddle_mini {

// The least limit of the control groups (cgroup v2 and v1) that this process is in, from its own up to the outermost;
// SIZE_MAX where there is none. `root` stands for "/".
size_t container_memory_limit(const std::string& root = "");
// The least of the machine's memory and the container's limit, which are read once, and of RLIMIT_AS and RLIMIT_DATA, which a
// process may change. Those two bound all of its address space; what is not tensors is seen when the system refuses.
size_t memory_limit();

size_t memory_in_use();  // by large allocations (memory.h), together
// Counts an allocation before it is made. DeviceError, and nothing is counted, when the sum would exceed the limit. Small
// allocations are not counted.
void count_memory(size_t bytes);
void uncount_memory(size_t bytes) noexcept;

[[noreturn]] void refuse_memory(size_t bytes, size_t used);  // the DeviceError of both

}  // namespace paddle_mini
