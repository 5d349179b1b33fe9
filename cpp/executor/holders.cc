// Sorts and prints the largest allocations.
#include "executor/holders.h"

#include <algorithm>
#include <cstdio>

namespace paddle_mini {

std::string with_holders(const std::string& message, std::vector<Holder> holders, const Scope& scope,
                         const Accelerator* device) {
  constexpr size_t kMost = 6;
  for (const std::string& name : scope.names()) {
    const Variable& variable = *scope.find(name);
    if (variable.has_value() && variable.tensor.device == device) holders.push_back({name, variable.tensor.bytes()});
  }
  std::sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  std::string line;
  for (size_t i = 0; i < std::min(kMost, holders.size()); ++i) {
    char size[32];
    std::snprintf(size, sizeof size, "%.2f MiB", static_cast<double>(holders[i].bytes) / (1 << 20));
    line += text(line.empty() ? "\n  the largest are " : ", ", "'", printable(holders[i].name, 60), "' ", size);
  }
  return message + line;
}

}  // namespace paddle_mini
