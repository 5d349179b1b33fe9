// A plan as text.
#include "executor/plan.h"

namespace paddle_mini {

// "waits for #7, #9 of the run before"
std::string Plan::waits_text(size_t step) const {
  if (!flow_) return "";
  std::string line;
  size_t kept = keeping_.size();
  for (int other : flow_->waits_of(kept + step)) {
    bool before = static_cast<size_t>(other) >= kept + step;
    line += text(line.empty() ? "  waits for " : ", ");
    if (static_cast<size_t>(other) < kept) line += "what is kept";
    else line += text("#", static_cast<size_t>(other) - kept, before ? " of the run before" : "");
  }
  return line;
}

std::string Plan::str() const {
  std::string memory;
  for (const auto& [place, block] : blocks_) {
    memory += text(memory.empty() ? "" : ", ", "arena of ", block.bytes, " bytes", place.is_cpu() ? "" : " on " + name_of(place));
  }
  size_t kept = 0;  // copied in each run, so that a refusal leaves the scope as it was
  for (const Backup& backup : backups_) kept += backup.kept.bytes();
  std::string out = text(segment_.block ? text("block ", segment_.block, ": ") : "", steps_.size(), " steps, ",
                         memory.empty() ? "no arena" : memory, kept ? text(", keeps ", kept, " bytes") : "", "\n");
  auto show = [&](const std::vector<Slot>& slots, const Ports& ports) {
    std::string line;
    for (size_t s = 0; s < slots.size(); ++s) {
      for (int v : ports[s]) {
        if (v < 0) continue;
        const RunVariable& run = segment_.variables[v];
        line += text(line.empty() ? "" : ", ", slots[s].name, "=", printable(run.name, 60), " ", run.info.str());
        if (run.origin == Origin::Temporary) line += text(" @", offsets_[v]);
      }
    }
    return line;
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    for (const RunOp* op = step.first(); op != step.last(); ++op) {
      const char* direction = step.lane == Lane::ToHost ? " to host" : step.lane == Lane::ToDevice ? " from host" : "";
      if (op == step.first()) out += text("#", i, " ", name_of(step.place), direction, " ");
      else out += step.is_batch ? "   launched with it: " : "   in parts with it: ";
      out += text(op->desc().type, "(", show(op->desc().inputs, op->inputs), ") -> ", show(op->desc().outputs, op->outputs));
      if (op == step.first() && step.is_piece()) out += text("  elements ", step.begin, " to ", step.end);
      out += (op == step.first() ? waits_text(i) : "") + "\n";
    }
  }
  if (!segment_.whole) out += text("then ", segment_.next, "; what follows is planned when it is reached\n");
  return out;
}

}  // namespace paddle_mini
