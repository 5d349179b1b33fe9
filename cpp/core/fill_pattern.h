// Memory that nobody has written yet can be given a pattern, so that a test sees who reads it or returns it: fresh
// allocations, and what a plan's temporaries and scratch memory lie in, before each run.
#pragma once

#include <cstddef>

namespace paddle_mini {

// A byte, or -1: memory stays as it comes. At first PM_FILL says it, a number such as 0x55.
int fill_pattern();
void set_fill_pattern(int pattern);
void fill_with_pattern(void* data, size_t bytes);

}  // namespace paddle_mini
