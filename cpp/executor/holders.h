// Holders: who has the memory when there is not enough.
#pragma once

#include <string>
#include <vector>

#include "core/scope.h"

namespace paddle_mini {

struct Holder {
  std::string name;
  size_t bytes;
};

// The error's message and a line with the largest holders, those of the scope on that device among them.
std::string with_holders(const std::string& message, std::vector<Holder> holders, const Scope& scope,
                         const Accelerator* device);

}  // namespace paddle_mini
