// Fills memory that is not yet written with a pattern, so that a test detects an operator that reads or returns it.
// Covers new allocations and, before each run, the memory of a plan's temporaries and scratch space, on devices too.
#pragma once

#include <cstddef>

namespace paddle_mini {

// The fill byte, or -1 if filling is off. The environment variable PM_FILL sets it at startup, for example to 0x55.
int fill_pattern();
void set_fill_pattern(int pattern);
void fill_with_pattern(void* data, size_t bytes);

}  // namespace paddle_mini
