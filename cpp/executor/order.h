// order: computes which steps of several queues must wait for which others.
#pragma once

#include <cstddef>
#include <vector>

namespace paddle_mini {

// A memory access of a step: bytes [begin, end) of one memory.
struct MemoryAccess {
  int memory;
  size_t begin, end;
  bool writes;
};

struct OrderedStep {
  int queue;
  std::vector<MemoryAccess> accesses;
};

// The steps that each step waits for: a smaller index is a step of the same run, an equal or larger one a step of the
// previous run. Queues are FIFO, so a step waits only for steps of other queues, and only for those that no earlier
// wait of the same run covers.
std::vector<std::vector<int>> find_waits(const std::vector<OrderedStep>& steps, int queues);

}  // namespace paddle_mini
