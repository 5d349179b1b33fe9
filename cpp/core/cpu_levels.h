// The levels that this CPU supports: those of x86-64 (psABI), v4-bf16, v4 with AVX512-BF16, and v4-amx, which also
// has AMX's tiles of bfloat16.
#pragma once

#include <string>
#include <vector>

namespace paddle_mini {

// The levels that this CPU runs, best first: "v4-amx", "v4-bf16", "v4", "v3", "v2", "baseline".
std::vector<std::string> cpu_levels();
// The level for which the library of a level is compiled: v4 for v4-amx and v4-bf16, whose other instructions are in a
// few functions.
std::string compiled_level(const std::string& level);

}  // namespace paddle_mini
