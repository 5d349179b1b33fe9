// ReplicaSum on GPUs.
#pragma once

#include "cuda/replica_sum.h"

namespace paddle_mini {
using ReplicaSum = GpuReplicaSum;
}  // namespace paddle_mini
