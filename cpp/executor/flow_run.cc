// Runs in the queues of devices, and their failures.
#include "executor/flow_run.h"

#include <set>

#include "core/takes_back.h"

namespace paddle_mini {

void FlowRun::run(RunState& state, bool agree) {
  set_devices(state.devices);
  std::mutex mutex;
  if (state.times) set_timer(*state.times, mutex);
  try {
    plan_.flow->run(state.stop, [&] {
      check_faults();
      if (agree) state.devices.agree();
    });
    if (state.times) plan_.flow->settle();
  } catch (const FlowFailure& failure) { fail(failure); }
}

void FlowRun::set_devices(Devices& devices) {
  std::vector<FlowLane>& lanes = plan_.flow->lanes();
  for (size_t i = 0; i < lanes.size(); ++i) {
    Device* device = plan_.lanes[i] == Lane::Compute ? &devices.at(plan_.places[i]) : nullptr;
    if (lanes[i].device != device) lanes[i].device = device;  // first run only: queues read it
  }
}

void FlowRun::set_timer(OpTimes& times, std::mutex& mutex) {
  plan_.flow->set_timer([&](size_t step, double microseconds) {
    std::lock_guard<std::mutex> lock(mutex);
    times.add(plan_.is_saving(step) ? "save" : steps_[plan_.plan_step(step)].types(), microseconds);
  });
}

// GPU kernels can't throw: they report errors in device memory.
void FlowRun::check_faults() const {
  for (size_t i = 0; i < plan_.places.size(); ++i) {
    Device* device = plan_.flow->lanes()[i].device;
    if (!device || !device->fault) continue;  // has not run yet, or its kernels can throw
    Fault fault, none;
    Accelerator& accelerator = *binding_.device_at(plan_.places[i]);
    accelerator.to_host(&fault, device->fault, sizeof fault);
    if (fault.step == 0) continue;
    accelerator.to_device(device->fault, &none, sizeof none);
    const Step& step = steps_[plan_.plan_step(fault.step - 1)];
    try {
      step.kernel->refuse(fault);
    } catch (...) { fail_at(step.running(), segment_, std::current_exception()); }
  }
}

void FlowRun::settle() {
  try {
    plan_.flow->settle();
  } catch (const FlowFailure& failure) { fail(failure); }
  check_faults();
}

// A step that reads a transferred value can't be undone: a transfer of the next run may have overwritten the value.
bool FlowRun::reads_transferred(const Step& step) const {
  std::set<int> transferred;
  for (const Step& other : steps_) {
    if (other.lane != Lane::Compute) transferred.insert(other.op->outputs[0][0]);
  }
  bool reads = false;
  for (const RunOp* op = step.first(); op != step.last(); ++op)
    op->inputs.each([&](int v) { reads = reads || transferred.count(v); });
  return reads;
}

void FlowRun::fail(const FlowFailure& failure) {
  bool of_operator = failure.step != Flow::kNoStep && !plan_.is_saving(failure.step);
  if (!of_operator) std::rethrow_exception(failure.error);
  for (size_t i = steps_.size(); i-- > 0;) {
    auto* kernel = dynamic_cast<TakesBack*>(steps_[i].kernel.get());
    size_t step = plan_.flow_step(i);
    if (!kernel || !plan_.flow->began(step, failure) || reads_transferred(steps_[i])) continue;
    kernel->take_back(*plan_.flow->lanes()[plan_.flow->step(step).lane].device);
  }
  fail_at(steps_[plan_.plan_step(failure.step)].running(), segment_, failure.error);
}

std::string FlowRun::waits_text(size_t step) const {
  std::string line;
  size_t own = plan_.flow_step(step);
  for (int number : plan_.flow->step(own).waits) {
    size_t other = static_cast<size_t>(number);
    line += text(line.empty() ? "  waits for " : ", ");
    if (plan_.is_saving(other)) line += "what is kept";
    else line += text("#", plan_.plan_step(other), other >= own ? " of the run before" : "");
  }
  return line;
}

}  // namespace paddle_mini
