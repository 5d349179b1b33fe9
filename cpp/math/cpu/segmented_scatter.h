// SegmentedScatter on a CPU.
#pragma once

namespace paddle_mini {

class SegmentedScatter {
 public:
  SegmentedScatter(const KernelInit&, int64_t) {}
};

}  // namespace paddle_mini
