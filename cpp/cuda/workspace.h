// Device memory that passes data from one launch to the next, such as partial sums.
#pragma once

#include "core/kernel.h"

namespace paddle_mini {

inline constexpr size_t kWorkspace = size_t{32} << 20;

// kWorkspace bytes per stream; the running operator owns the content.
void* workspace(const KernelContext& context);

}  // namespace paddle_mini
