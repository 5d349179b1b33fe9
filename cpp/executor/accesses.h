// LastAccesses: which operators so far have accessed each variable last.
#pragma once

#include <algorithm>

#include "executor/segment.h"

namespace paddle_mini {

// Operators are numbered in execution order; -1: none.
class LastAccesses {
 public:
  explicit LastAccesses(size_t variables) : read_(variables, -1), written_(variables, -1) {}
  void note(const RunOp& op, int at) {
    op.inputs.each([&](int v) { read_[v] = std::max(read_[v], at); });
    op.outputs.each([&](int v) { written_[v] = std::max(written_[v], at); });
    for (const auto& [from, to] : op.copies_after) read_[from] = written_[from] = written_[to] = at;
  }
  int written(int v) const { return written_[v]; }
  int touched(int v) const { return std::max(read_[v], written_[v]); }

 private:
  std::vector<int> read_, written_;
};

}  // namespace paddle_mini
