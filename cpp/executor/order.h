// order: which steps of several queues must wait for which others.
#pragma once

#include <cstddef>
#include <vector>

namespace paddle_mini {

// Bytes that a step reads or writes: [begin, end) of one piece of memory.
struct Touch {
  int memory;
  size_t begin, end;
  bool writes;
};

struct OrderedStep {
  int queue;
  std::vector<Touch> touches;
};

// Steps that each step waits for. Those before it are of the same run; it itself and those behind it are of the run
// before. A queue works in order, so waits are only for steps of other queues, and of these only for what is not known
// to be done by an earlier wait of the same run.
std::vector<std::vector<int>> find_waits(const std::vector<OrderedStep>& steps, int queues);

}  // namespace paddle_mini
