// Stage 6: the loop, and putting the scope back when it does not end well.
#include <algorithm>
#include <chrono>
#include <mutex>

#include "executor/plan.h"
#include "executor/site.h"

namespace paddle_mini {
namespace {

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

std::string name_of(const Step& step) {
  std::string name;
  for (const RunOp* op = step.first(); op != step.last(); ++op) name += (name.empty() ? "" : " + ") + op->desc().type;
  return name;
}

}  // namespace

void Plan::run_steps(Device& device, size_t begin, size_t end, StopAsker* stop, OpTimes* times) {
  size_t i = begin;
  Interruptible interruptible(stop);
  try {
    for (; i < end; ++i) {
      if (times) {
        auto start = std::chrono::steady_clock::now();
        steps_[i].kernel->run(device);
        times->add(name_of(steps_[i]), microseconds_since(start));
      } else {
        steps_[i].kernel->run(device);
      }
      if (steps_[i].poll && stop && (*stop)()) throw Interrupted("stopped");
    }
  } catch (...) {
    std::exception_ptr error = std::current_exception();
    for (size_t done = std::min(i + 1, end); done-- > 0;) {
      if (auto* kernel = dynamic_cast<TakesBack*>(steps_[done].kernel.get())) kernel->take_back(device);
    }
    fail_at(steps_[i].running(), error);
  }
}

// `whole`: the plan is a run by itself, which replicas agree on when nothing can refuse any more.
void Plan::run_flow(Devices& devices, StopAsker& stop, OpTimes* times, bool whole) {
  std::vector<FlowLane>& lanes = flow_->lanes();
  for (size_t i = 0; i < lanes.size(); ++i) {
    Device* device = flow_lanes_[i] == Lane::Compute ? &devices.at(flow_places_[i]) : nullptr;
    if (lanes[i].device != device) lanes[i].device = device;  // only before the first run: queues read it
  }
  std::mutex mutex;
  if (times) {
    flow_->set_timer([&](size_t step, double microseconds) {
      std::lock_guard<std::mutex> lock(mutex);
      times->add(step < keeping_.size() ? "keep" : name_of(steps_[step - keeping_.size()]), microseconds);
    });
  }
  scope_->set_pending(this);
  scope_->note_devices();  // also where all its values are the host's: whoever looks at them must wait for the queues
  try {
    flow_->run(stop, [&] {
      check_faults();
      if (whole) devices.agree();
    });
    if (times) flow_->settle();
  } catch (const FlowFailure& failure) {
    fail_with(failure);
  }
}

// A device whose kernels can't throw says in its memory what they found.
void Plan::check_faults() const {
  for (size_t i = 0; i < flow_places_.size(); ++i) {
    Device* device = flow_->lanes()[i].device;
    if (!device || !device->fault) continue;  // it has not run yet, or its kernels throw
    Fault fault, none;
    Accelerator& accelerator = *device_of(flow_places_[i]);
    accelerator.to_host(&fault, device->fault, sizeof fault);
    if (fault.step == 0) continue;
    accelerator.to_device(device->fault, &none, sizeof none);
    const Step& step = steps_[fault.step - 1 - keeping_.size()];
    try {
      step.kernel->refuse(fault);
    } catch (...) {
      fail_at(step.running(), std::current_exception());
    }
  }
}

void Plan::settle() {
  if (!flow_) return;
  try {
    flow_->settle();
  } catch (const FlowFailure& failure) {
    fail_with(failure);
  }
  check_faults();
}

void Plan::fail_at(const RunOp& op, std::exception_ptr error) const {
  auto inputs = segment_.infos(op.inputs);
  at_op({op.desc(), op.index, segment_.block, &inputs}, [&] { std::rethrow_exception(error); });
  std::rethrow_exception(error);
}

void Plan::fail_with(const FlowFailure& failure) const {
  bool of_operator = failure.step != Flow::kNoStep && failure.step >= keeping_.size();
  if (!of_operator) std::rethrow_exception(failure.error);
  fail_at(steps_[failure.step - keeping_.size()].running(), failure.error);
}

void Plan::bind_feeds(const std::vector<Tensor>& feeds) {
  for (size_t i = 0; i < feeds.size(); ++i) variables_[segment_.feeds[i]]->tensor.data = feeds[i].data;
}

void Plan::run(const std::vector<Tensor>& feeds, Devices& devices, StopAsker& stop, OpTimes* times) {
  bring_home();
  bind_arenas();
  bind_feeds(feeds);
  for (Backup& backup : backups_) {
    backup.is_kept = false;
    if (!flow_) backup.keep();
  }
  try {
    if (flow_) {
      run_flow(devices, stop, times, true);
    } else {
      size_t stoppable = has_run_ ? stoppable_steps_ : stoppable_at_first_;
      run_steps(devices.at(Place{}), 0, stoppable, &stop, times);
      devices.agree();
      run_steps(devices.at(Place{}), stoppable, steps_.size(), nullptr, times);
    }
  } catch (...) {
    undo();
    throw;
  }
  has_run_ = true;
  made_.clear();
  note_row_counts();
}

void Plan::run_part(const std::vector<Tensor>& feeds, Frame& frame, Devices& devices, StopAsker& stop, Changes& changes, OpTimes* times) {
  changes.note_made(std::move(made_), *scope_);
  made_.clear();
  bring_home();
  bind_arenas();
  bind_feeds(feeds);
  for (int v : segment_.live_in) {
    const Variable& there = *frame.find(segment_.variables[v].name);
    if (there.kind == VarKind::Tensor) variables_[v]->tensor.data = there.tensor.data;
    else *variables_[v] = there;
  }
  for (int v : segment_.live_out) {
    Tensor& tensor = variables_[v]->tensor;
    size_t rows = variables_[v]->is_rows() ? static_cast<size_t>(segment_.variables[v].info.row_count) : 0;
    if (rows) tensor.shape[0] = static_cast<int64_t>(rows);
    tensor.memory = allocate(tensor.bytes());
    tensor.data = tensor.memory.get();
  }
  for (Variable* variable : written_) changes.keep(variable);
  if (flow_) {
    run_flow(devices, stop, times, false);
    settle();
  } else {
    run_steps(devices.at(Place{}), 0, steps_.size(), &stop, times);
  }
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
  flow_.reset();
  backups_.clear();  // nothing has run: they hold no values
  undo();
}

void Plan::undo() {
  for (const Backup& backup : backups_) {
    if (backup.is_kept) backup.put_back();
  }
  take_back(made_, *scope_);
  note_row_counts();
}

}  // namespace paddle_mini
