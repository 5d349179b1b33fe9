// Sums over GPUs by NVIDIA's NCCL, where this machine has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/accelerator.h"

namespace paddle_mini {

std::unique_ptr<ReplicaSums> sums_by_nccl(const std::vector<int>& devices);  // nullptr where there is no NCCL
std::string nccl_description();

}  // namespace paddle_mini
