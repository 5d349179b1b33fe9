// The sum over replicas on CPUs.
#pragma once

#include "core/communicator.h"
#include "core/kernel.h"

namespace paddle_mini {

class HostReplicaSum {
 public:
  static bool wanted(Device&, const bool* condition) { return *condition; }
  // All replicas' tensors become their sum.
  void run(Device& device, const Tensor& tensor) { device.communicator->sum(device.rank, tensor); }
};
using ReplicaSum = HostReplicaSum;

}  // namespace paddle_mini
