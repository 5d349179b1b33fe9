// A plan as text.
#include "executor/plan.h"

namespace paddle_mini {

std::string Plan::str() const {
  std::string out = text(inferred_.block ? text("block ", inferred_.block, ": ") : "", steps_.size(), " steps, arena of ", arena_bytes_, " bytes\n");
  auto show = [&](const std::vector<Slot>& slots, const std::vector<std::vector<int>>& ports) {
    std::string line;
    for (size_t s = 0; s < slots.size(); ++s) {
      for (int v : ports[s]) {
        if (v < 0) continue;
        const RunVariable& run = inferred_.variables[v];
        line += text(line.empty() ? "" : ", ", slots[s].name, "=", printable(run.name, 60), " ", run.info.str());
        if (run.origin == Origin::Temporary) line += text(" @", offsets_[v]);
      }
    }
    return line;
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const RunOp& op : steps_[i]) {
      out += text(op.joined ? "   in parts with it: " : text("#", i, " cpu "), op.op->desc.type, "(",
                  show(op.op->desc.inputs, op.inputs), ") -> ", show(op.op->desc.outputs, op.outputs), "\n");
    }
  }
  if (!inferred_.whole) out += text("then ", inferred_.next, "; what follows is planned when it is reached\n");
  return out;
}

}  // namespace paddle_mini
