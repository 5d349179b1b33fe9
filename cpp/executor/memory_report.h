// memory_report: lists the largest allocations in out-of-memory errors.
#pragma once

#include <string>
#include <vector>

#include "core/scope.h"

namespace paddle_mini {

struct LargeAllocation {
  std::string name;
  size_t bytes;
};

// Appends a line with the largest allocations, including those of the scope on that device, to an error message.
std::string with_memory_report(const std::string& message, std::vector<LargeAllocation> allocations, const Scope& scope,
                               const Device* device);

}  // namespace paddle_mini
