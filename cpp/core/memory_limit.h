// The memory limit of this process and the memory that its tensors use.
#pragma once

#include <cstddef>
#include <string>

namespace paddle_mini {

// The lowest limit of the control groups (cgroup v2 and v1) that contain this process; SIZE_MAX if there is none.
// `root` replaces "/".
size_t container_memory_limit(const std::string& root = "");
// The minimum of the machine's memory and the container's limit, which are read once, and of RLIMIT_AS and RLIMIT_DATA,
// which a process may change. Those two limit its whole address space; memory of other kinds shows only when the system
// fails an allocation.
size_t memory_limit();

// Whether there may be `bytes` more of copies that only save time, in addition to the `held` ones: they leave memory for
// what programs need. They are at most an eighth of the limit together, and none is made when half of it is in use.
bool has_room_for_copy(size_t bytes, size_t held);
size_t memory_in_use();  // total of the large allocations (memory.h)
// Counts an allocation before it is made. Throws DeviceError, and counts nothing, if the sum would exceed the limit.
// Small allocations are not counted.
void count_memory(size_t bytes);
void uncount_memory(size_t bytes) noexcept;

[[noreturn]] void refuse_memory(size_t bytes, size_t used);  // throws the DeviceError for both cases

}  // namespace paddle_mini
