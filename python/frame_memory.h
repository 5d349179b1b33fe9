// Where the large arrays of a message are in memory that two processes have in common; paddle_mini/cluster/frames.py
// describes it.
#pragma once

#include <cstddef>

namespace paddle_mini::python {

constexpr size_t kSmallArray = size_t{1} << 14;  // bytes from which an array is large
constexpr size_t kFrameAlignment = 64;
// The bytes that an array takes there.
constexpr size_t room(size_t bytes) { return (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment; }

}  // namespace paddle_mini::python
