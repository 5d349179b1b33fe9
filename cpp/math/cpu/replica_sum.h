// ReplicaSum on CPUs.
#pragma once

#include "core/communicator.h"
#include "core/kernel.h"

namespace paddle_mini {

class HostReplicaSum {
 public:
  static bool wanted(KernelContext&, const bool* condition) { return *condition; }
  // Replaces every replica's tensor by the sum of all.
  void run(KernelContext& context, const Tensor& tensor) { context.communicator->sum(context.rank, tensor); }
};
using ReplicaSum = HostReplicaSum;

}  // namespace paddle_mini
