// The sum over replicas on CPUs.
#pragma once

#include "core/communicator.h"
#include "core/kernel.h"

namespace paddle_mini {

class HostReplicaSum {
 public:
  static bool wanted(KernelContext&, const bool* condition) { return *condition; }
  // All replicas' tensors become their sum.
  void run(KernelContext& context, const Tensor& tensor) { context.communicator->sum(context.rank, tensor); }
};
using ReplicaSum = HostReplicaSum;

}  // namespace paddle_mini
