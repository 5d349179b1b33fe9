// Stage 6: the loop, and putting the scope back when it does not end well.
#include <chrono>
#include <cstring>

#include "executor/plan.h"
#include "executor/site.h"

namespace paddle_mini {
namespace {

// Asks `stop` at most every 20 ms: asking costs more than a small operator.
class StopAsker {
 public:
  explicit StopAsker(bool (*stop)()) : stop_(stop) {}
  bool operator()() {
    if (!stop_) return false;
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(20)) return false;
    last_ = now;
    return stop_();
  }

 private:
  bool (*stop_)();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void Backup::keep() {
  std::memcpy(bytes.get(), variable->tensor.data, variable->tensor.bytes());
  if (variable->is_rows()) rows = variable->rows;
}

void Backup::put_back() const {
  if (variable->is_rows()) variable->set_rows(rows);
  std::memcpy(variable->tensor.data, bytes.get(), variable->tensor.bytes());
}

void Plan::run(const std::vector<Tensor>& feeds, Device& device, bool (*stop)(), std::vector<double>* times) {
  for (size_t i = 0; i < feeds.size(); ++i) variables_[inferred_.feeds[i]]->tensor.data = feeds[i].data;
  for (Backup& backup : backups_) backup.keep();
  StopAsker asked_to_stop(stop);
  size_t i = 0;
  try {
    for (; i < steps_.size(); ++i) {
      if (times) {
        auto start = std::chrono::steady_clock::now();
        steps_[i].kernel->run(device);
        times->push_back(microseconds_since(start));
      } else {
        steps_[i].kernel->run(device);
      }
      if (steps_[i].poll && i < stoppable_steps_ && asked_to_stop()) throw Interrupted("stopped");
    }
  } catch (...) {
    undo();
    const RunOp& op = *steps_[i].op;
    auto inputs = infos_of(inferred_, op.inputs);
    at_op({op.op->desc, op.index, 0, &inputs}, [] { throw; });
  }
  has_run_ = true;
  made_.clear();
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

// Puts back what the scope held; in reverse, since a name may have been made more than once.
void Plan::undo() {
  for (const Backup& backup : backups_) backup.put_back();
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    if (made->before) *scope_->find(made->name) = *made->before;
    else scope_->erase(made->name);
    scope_->changed();
  }
  made_.clear();
  note_row_counts();
}

}  // namespace paddle_mini
