// Memory that is not yet written can be filled with a pattern, so that a test sees when an operator reads or returns it:
// new allocations, and, before each run, the memory of a plan's temporaries and scratch space, on devices too.
#pragma once

#include <cstddef>

namespace paddle_mini {

// The byte that memory is filled with, or -1 where it is not filled. PM_FILL sets it at the start: a number such as 0x55.
int fill_pattern();
void set_fill_pattern(int pattern);
void fill_with_pattern(void* data, size_t bytes);

}  // namespace paddle_mini
