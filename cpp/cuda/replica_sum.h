// The sum over replicas on a GPU (math/replica_sum.h).
#pragma once

#include <vector>

#include "core/kernel.h"

namespace paddle_mini {

class GpuReplicaSum {
 public:
  static bool wanted(KernelContext& context, const bool* condition);
  void run(KernelContext& context, const Tensor& tensor);

 private:
  std::vector<char> on_host_;
};

}  // namespace paddle_mini
