// Runs a plan and rolls the scope back if a run fails.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <set>

#include "core/fill_pattern.h"
#include "core/takes_back.h"
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

void Plan::prepare(const std::vector<Tensor>& feeds) {
  bool moved = binding_.move_to_devices();
  if (fill_pattern() >= 0) settle();  // devices may still use memory of the previous run
  moved |= temporaries_->bind();
  if (flow_.flow && moved) flow_.flow->forget_recordings();
  binding_.set_feeds(feeds);
}

void Plan::run(const std::vector<Tensor>& feeds, const Run& run) {
  prepare(feeds);
  undo_.begin_run();
  try {
    if (flow_.flow) {
      run_flow(run, true);
    } else {
      for (SavedValue& value : undo_.prepared()) value.save();
      size_t stoppable = has_run_ ? undo_plan_.stoppable : undo_plan_.stoppable_at_first;
      run_steps(run, 0, stoppable, true);
      run.devices.agree();
      run_steps(run, stoppable, steps_.steps.size(), false);
    }
  } catch (...) {
    undo_.rollback();
    binding_.note_row_counts();
    throw;
  }
  if (!has_run_) undo_.keep_created();
  has_run_ = true;
  binding_.note_row_counts();
}

void Plan::run_in(Frame& frame, const std::vector<Tensor>& feeds, const Run& run, UndoLog& undo) {
  undo.take_over(undo_);
  prepare(feeds);
  binding_.set_live_in(frame);
  binding_.allocate_live_out();
  for (Variable* variable : undo_plan_.written) undo.save(variable);
  if (flow_.flow) {
    run_flow(run, false);
    settle();
  } else {
    run_steps(run, 0, steps_.steps.size(), true);
  }
  has_run_ = true;
  binding_.note_row_counts();
}

void Plan::run_steps(const Run& run, size_t begin, size_t end, bool may_stop) {
  std::vector<Step>& steps = steps_.steps;
  Device& device = run.devices.at(Place{});
  StopAsker* stop = may_stop ? &run.stop : nullptr;
  OpTimes* times = run.times;
  Interruptible interruptible(stop);
  size_t i = begin;
  try {
    for (; i < end; ++i) {
      if (times) {
        auto start = std::chrono::steady_clock::now();
        steps[i].kernel->run(device);
        times->add(name_of(steps[i]), microseconds_since(start));
      } else {
        steps[i].kernel->run(device);
      }
      if (steps[i].poll && stop && (*stop)()) throw Interrupted("stopped");
    }
  } catch (...) {
    std::exception_ptr error = std::current_exception();
    for (size_t done = std::min(i + 1, end); done-- > 0;) {
      if (auto* kernel = dynamic_cast<TakesBack*>(steps[done].kernel.get())) kernel->take_back(device);
    }
    fail_at(steps[i].running(), error);
  }
}

// `agree`: the plan is a run by itself, which replicas agree on when nothing can refuse any more.
void Plan::run_flow(const Run& run, bool agree) {
  Flow& flow = *flow_.flow;
  for (size_t i = 0; i < flow.lanes().size(); ++i) {
    Device* device = flow_.lanes[i] == Lane::Compute ? &run.devices.at(flow_.places[i]) : nullptr;
    if (flow.lanes()[i].device != device) flow.lanes()[i].device = device;  // only before the first run: queues read it
  }
  std::mutex mutex;
  if (run.times) time_flow(*run.times, mutex);
  scope_.set_pending(this);
  scope_.note_devices();  // also where all its values are the host's: their readers must wait for the queues
  try {
    flow.run(run.stop, [&] {
      check_faults();
      if (agree) run.devices.agree();
    });
    if (run.times) flow.settle();
  } catch (const FlowFailure& failure) { fail_with(failure); }
}

void Plan::time_flow(OpTimes& times, std::mutex& mutex) {
  flow_.flow->set_timer([&](size_t step, double microseconds) {
    std::lock_guard<std::mutex> lock(mutex);
    times.add(flow_.is_saving(step) ? "save" : name_of(steps_.steps[flow_.plan_step(step)]), microseconds);
  });
}

// A device whose kernels can't throw says in its memory what they found.
void Plan::check_faults() const {
  for (size_t i = 0; i < flow_.places.size(); ++i) {
    Device* device = flow_.flow->lanes()[i].device;
    if (!device || !device->fault) continue;  // it has not run yet, or its kernels throw
    Fault fault, none;
    Accelerator& accelerator = *binding_.device_at(flow_.places[i]);
    accelerator.to_host(&fault, device->fault, sizeof fault);
    if (fault.step == 0) continue;
    accelerator.to_device(device->fault, &none, sizeof none);
    const Step& step = steps_.steps[flow_.plan_step(fault.step - 1)];
    try {
      step.kernel->refuse(fault);
    } catch (...) { fail_at(step.running(), std::current_exception()); }
  }
}

void Plan::settle() {
  if (!flow_.flow) return;
  try {
    flow_.flow->settle();
  } catch (const FlowFailure& failure) { fail_with(failure); }
  check_faults();
}

void Plan::fail_at(const RunOp& op, std::exception_ptr error) const {
  auto inputs = segment_.infos(op.inputs);
  at_op({op.desc(), op.index, segment_.block, &inputs}, [&] { std::rethrow_exception(error); });
  std::rethrow_exception(error);
}

// The next run's transfer may have overwritten what a transfer of the failed run brought: a step that reads such a value
// cannot be undone.
bool Plan::reads_transferred(const Step& step) const {
  std::set<int> transferred;
  for (const Step& other : steps_.steps) {
    if (other.lane != Lane::Compute) transferred.insert(other.op->outputs[0][0]);
  }
  bool reads = false;
  for (const RunOp* op = step.first(); op != step.last(); ++op)
    op->inputs.each([&](int v) { reads = reads || transferred.count(v); });
  return reads;
}

void Plan::fail_with(const FlowFailure& failure) {
  bool of_operator = failure.step != Flow::kNoStep && !flow_.is_saving(failure.step);
  if (!of_operator) std::rethrow_exception(failure.error);
  const std::vector<Step>& steps = steps_.steps;
  for (size_t i = steps.size(); i-- > 0;) {
    auto* kernel = dynamic_cast<TakesBack*>(steps[i].kernel.get());
    size_t step = flow_.flow_step(i);
    if (!kernel || !flow_.flow->began(step, failure) || reads_transferred(steps[i])) continue;
    kernel->take_back(*flow_.flow->lane_of(step).device);
  }
  fail_at(steps[flow_.plan_step(failure.step)].running(), failure.error);
}

}  // namespace paddle_mini
