// The sum over replicas, each of which has a device of one kind.
#pragma once

#ifdef PM_GPU
#include "cuda/replica_sum.h"

namespace paddle_mini {
using ReplicaSum = GpuReplicaSum;
}
#else
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
#endif
