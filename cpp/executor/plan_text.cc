// Prints a plan.
#include "executor/plan.h"

namespace paddle_mini {

std::string Plan::str() const {
  size_t saved = undo_.prepared_bytes();  // copied in each run, so that a data error leaves the scope unchanged
  std::string out = text(segment_.block ? text("block ", segment_.block, ": ") : "", steps_.steps.size(), " steps, ",
                         temporaries_->str(), saved ? text(", keeps ", saved, " bytes") : "", "\n");
  auto show = [&](const std::vector<Slot>& slots, const Ports& ports) {
    std::string line;
    for (size_t s = 0; s < slots.size(); ++s) {
      for (int v : ports[s]) {
        if (v < 0) continue;
        const RunVariable& run = segment_.variables[v];
        line += text(line.empty() ? "" : ", ", slots[s].name, "=", printable(run.name, 60), " ", run.info.str());
        if (run.origin == Origin::Temporary) line += text(" @", temporaries_->offset(v));
      }
    }
    return line;
  };
  for (size_t i = 0; i < steps_.steps.size(); ++i) {
    const Step& step = steps_.steps[i];
    for (const RunOp* op = step.first(); op != step.last(); ++op) {
      const char* direction = step.lane == Lane::ToHost ? " to host" : step.lane == Lane::ToDevice ? " from host" : "";
      if (op == step.first()) out += text("#", i, " ", name_of(step.place), direction, " ");
      else out += step.is_batch ? "   launched with it: " : "   in parts with it: ";
      out += text(op->desc().type, "(", show(op->desc().inputs, op->inputs), ") -> ",
                  show(op->desc().outputs, op->outputs));
      if (op->derived) out += "  when values of the scope have changed";
      if (op == step.first() && step.is_chunk()) out += text("  elements ", step.staged.begin, " to ", step.staged.end);
      out += (schedule_ && op == step.first() ? schedule_->waits_text(i) : "") + "\n";
    }
  }
  for (const StepLoop& loop : loops_)
    out += text("one loop: #", loop.first, " to #", loop.last - 1, ", in ", loop.chunks.size() - 1, " chunks\n");
  for (const BatchSteps& batch : batches_)
    out += text("parts of a batch: #", batch.first, " to #", batch.last - 1, " run ", batch.count, " times\n");
  if (!segment_.whole) out += text("then ", segment_.next, "; what follows is planned when it is reached\n");
  return out;
}

}  // namespace paddle_mini
