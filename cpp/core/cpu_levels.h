// The x86-64 levels (psABI) that this CPU supports.
#pragma once

#include <string>
#include <vector>

namespace paddle_mini {

// The levels that this CPU runs, best first: "v4", "v3", "v2", "baseline".
std::vector<std::string> cpu_levels();

}  // namespace paddle_mini
