// Sorts and prints the largest allocations.
#include "executor/memory_report.h"

#include <algorithm>
#include <cstdio>

namespace paddle_mini {

std::string with_memory_report(const std::string& message, std::vector<LargeAllocation> allocations, const Scope& scope,
                               const Device* device) {
  constexpr size_t kMost = 6;
  for (const std::string& name : scope.names()) {
    const Variable& variable = *scope.find(name);
    if (variable.has_value() && variable.tensor.device == device)
      allocations.push_back({name, variable.tensor.bytes()});
  }
  std::sort(allocations.begin(), allocations.end(),
            [](const LargeAllocation& a, const LargeAllocation& b) { return a.bytes > b.bytes; });
  std::string line;
  for (size_t i = 0; i < std::min(kMost, allocations.size()); ++i) {
    char size[32];
    std::snprintf(size, sizeof size, "%.2f MiB", static_cast<double>(allocations[i].bytes) / (1 << 20));
    line += text(line.empty() ? "\n  the largest are " : ", ", "'", printable(allocations[i].name, 60), "' ", size);
  }
  return message + line;
}

}  // namespace paddle_mini
