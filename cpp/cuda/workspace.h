// Memory for what a launch leaves to the next one, such as partial sums.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

inline constexpr size_t kWorkspace = size_t{32} << 20;

// kWorkspace bytes of the stream's own: what is there belongs to the operator that is running.
void* workspace(const Device& device);

}  // namespace paddle_mini
