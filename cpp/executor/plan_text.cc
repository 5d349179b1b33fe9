// A plan as text: its steps, and how long each type of operator took.
#include <algorithm>
#include <map>

#include "executor/plan.h"

namespace paddle_mini {

std::string Plan::str() const {
  std::string out = text(steps_.size(), " steps, arena of ", arena_bytes_, " bytes\n");
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
    const RunOp& op = *steps_[i].op;
    out += text("#", i, " cpu ", op.op->desc.type, "(", show(op.op->desc.inputs, op.inputs), ") -> ",
                show(op.op->desc.outputs, op.outputs), "\n");
  }
  return out;
}

std::string Plan::times_text(const std::vector<double>& times) const {
  struct Row {
    double total = 0;
    int count = 0;
  };
  std::map<std::string, Row> by_type;
  double all = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    Row& row = by_type[steps_[i].op->op->desc.type];
    row.total += times[i];
    ++row.count;
    all += times[i];
  }
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [type, row] : by_type) lines.emplace_back(-row.total, text(row.total, " us  ", type, " x ", row.count, "\n"));
  std::sort(lines.begin(), lines.end());
  std::string out = text(all, " us in ", times.size(), " steps\n");
  for (const auto& line : lines) out += "  " + line.second;
  return out;
}

}  // namespace paddle_mini
