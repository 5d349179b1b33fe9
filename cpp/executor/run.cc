// Stage 6: the loop, and putting the scope back when it does not end well.
#include <chrono>

#include "executor/plan.h"
#include "executor/site.h"

namespace paddle_mini {
namespace {

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

std::string name_of(const Step& step) {
  std::string name;
  for (const RunOp& op : step) name += (name.empty() ? "" : " + ") + op.op->desc.type;
  return name;
}

}  // namespace

void Plan::run_steps(Device& device, StopAsker& stop, size_t stoppable, OpTimes* times) {
  size_t i = 0;
  try {
    for (; i < steps_.size(); ++i) {
      if (times) {
        auto start = std::chrono::steady_clock::now();
        steps_[i].kernel->run(device);
        times->add(name_of(steps_[i]), microseconds_since(start));
      } else {
        steps_[i].kernel->run(device);
      }
      if (steps_[i].poll && i < stoppable && stop()) throw Interrupted("stopped");
    }
  } catch (...) {
    const RunOp& op = steps_[i].running();
    auto inputs = infos_of(inferred_, op.inputs);
    at_op({op.op->desc, op.index, inferred_.block, &inputs}, [] { throw; });
  }
}

void Plan::run(const std::vector<Tensor>& feeds, Device& device, StopAsker& stop, OpTimes* times) {
  bind_arena();
  for (size_t i = 0; i < feeds.size(); ++i) variables_[inferred_.feeds[i]]->tensor.data = feeds[i].data;
  for (Backup& backup : backups_) backup.keep();
  try {
    run_steps(device, stop, stoppable_steps_, times);
  } catch (...) {
    undo();
    throw;
  }
  has_run_ = true;
  made_.clear();
  note_row_counts();
}

void Plan::run_part(const std::vector<Tensor>& feeds, Frame& frame, Device& device, StopAsker& stop, Changes& changes, OpTimes* times) {
  changes.note_made(std::move(made_), *scope_);
  made_.clear();
  bind_arena();
  for (size_t i = 0; i < feeds.size(); ++i) variables_[inferred_.feeds[i]]->tensor.data = feeds[i].data;
  for (int v : inferred_.captured) {
    const Variable& there = *frame.find(inferred_.variables[v].name);
    if (there.kind == VarKind::Tensor) variables_[v]->tensor.data = there.tensor.data;
    else *variables_[v] = there;
  }
  for (int v : inferred_.carried) {
    Tensor& tensor = variables_[v]->tensor;
    size_t rows = variables_[v]->is_rows() ? static_cast<size_t>(inferred_.variables[v].info.row_count) : 0;
    if (rows) tensor.shape[0] = static_cast<int64_t>(rows);
    tensor.memory = allocate(tensor.bytes());
    tensor.data = tensor.memory.get();
  }
  for (Variable* variable : written_) changes.keep(variable);
  run_steps(device, stop, steps_.size(), times);
  has_run_ = true;
  note_row_counts();
}

// Other plans were made for the number of rows that there was: they must look again.
void Plan::note_row_counts() {
  for (auto& [variable, count] : kept_rows_) {
    if (variable->rows.size() == count) continue;
    count = variable->rows.size();
    scope_->changed();
  }
}

void Plan::unbind() {
  backups_.clear();  // nothing has run: they hold no values
  undo();
}

void Plan::undo() {
  for (const Backup& backup : backups_) backup.put_back();
  take_back(made_, *scope_);
  note_row_counts();
}

}  // namespace paddle_mini
