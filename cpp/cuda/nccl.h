// Sums over GPUs by NVIDIA's NCCL, if the machine has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device.h"

namespace paddle_mini {

std::unique_ptr<ReplicaSums> sums_by_nccl(const std::vector<int>& devices);  // nullptr if NCCL is missing
Cliques* cliques_by_nccl();  // nullptr if it is missing, or older than 2.14
std::string nccl_description();

}  // namespace paddle_mini
