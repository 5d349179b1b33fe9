// What instructions this processor has, by the names of the x86-64 levels.
#pragma once

#include <string>
#include <vector>

namespace paddle_mini {

// The levels this processor runs, best first: "v4", "v3", "v2", "baseline".
std::vector<std::string> processor_levels();

}  // namespace paddle_mini
