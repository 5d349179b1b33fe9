// Implements submission of steps to queues, waiting, and failure handling.
#include "executor/flow.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/fork.h"

namespace paddle_mini {

Flow::Flow(std::vector<FlowStep> steps, std::vector<FlowLane> lanes)
    : steps_(std::move(steps)), lanes_(std::move(lanes)), last_runs_(steps_.size(), 0), marked_(steps_.size(), false),
      tickets_(steps_.size(), 0), gate_(steps_.size()) {
  for (auto& works : works_) works.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (auto& works : works_) {
      works[i].flow = this;
      works[i].step = i;
    }
    for (int other : steps_[i].waits) marked_[other] = true;
  }
  for (auto& ends : ends_) ends.assign(lanes_.size(), 0);
}

Flow::~Flow() { drain(); }

void Flow::set_waits(size_t gate, std::vector<int> refusing, std::vector<int> needed) {
  gate_ = gate;
  refusing_ = std::move(refusing);
  needed_ = std::move(needed);
  for (int step : refusing_) marked_[step] = true;
  for (int step : needed_) marked_[step] = true;
  find_sections();
}

void Flow::run(StopAsker& stop, const std::function<void()>& checked) {
  require_devices_kept();
  keep_two_runs();
  try {
    for (size_t i = 0; i < steps_.size();) {
      if (i == gate_) {
        wait_for(refusing_);
        checked();
      }
      i = give_from(i);
      if (steps_[i - 1].poll && i <= gate_ && stop()) throw Interrupted("stopped");
    }
    wait_for(needed_);
    if (gate_ >= steps_.size()) {
      wait_for(refusing_);
      checked();
    }
  } catch (...) {
    drain();
    failed_run_ = kNoRun;
    throw;
  }
  for (size_t lane = 0; lane < lanes_.size(); ++lane) ends_[turn_][lane] = lanes_[lane].queue->mark();
}

void Flow::find_sections() {
  const char* wanted = std::getenv("PM_GRAPHS");
  sections_.resize(steps_.size());
  if (wanted && std::strcmp(wanted, "0") == 0) return;
  auto goes_on = [&](size_t i) {
    return i < steps_.size() && steps_[i].lane == steps_[i - 1].lane && steps_[i].waits.empty() && !marked_[i - 1] &&
           i != gate_;
  };
  for (size_t begin = 0, end; begin < steps_.size(); begin = end) {
    end = begin + 1;
    while (goes_on(end)) ++end;
    if (lanes_[steps_[begin].lane].accelerator) add_section(begin, end);
  }
}

void Flow::add_section(size_t begin, size_t end) {
  if (end - begin < 2) return;
  sections_[begin] = std::make_unique<Section>();
  sections_[begin]->flow = this;
  sections_[begin]->begin = begin;
  sections_[begin]->end = end;
}

void Flow::Section::run() {
  for (at = begin; at < end; ++at) {
    Device& device = *flow->lanes_[flow->steps_[at].lane].device;
    device.step = at;
    flow->steps_[at].kernel->run(device);
  }
}

// If a step can't be recorded, it is excluded, and the parts before and after it become sections of their own.
void Flow::record(Section& section) {
  section.at = section.end;
  section.recording = lanes_[steps_[section.begin].lane].accelerator->record(section);
  if (section.recording) return;
  size_t begin = section.begin, at = section.at, end = section.end;
  sections_[begin].reset();
  if (at == end) return;  // no step threw: the device does not support recording
  add_section(begin, at);
  add_section(at + 1, end);
}

void Flow::forget_recordings() {
  drain();
  for (auto& section : sections_) {
    if (!section) continue;
    section->recording.reset();
    section->runs = 0;
  }
}

size_t Flow::give_from(size_t step) {
  constexpr int kRunsBefore = 2;  // by then every kernel has allocated what it needs
  if (sections_[step] && !failed() && sections_[step]->runs++ == kRunsBefore) record(*sections_[step]);
  Section* section = sections_[step].get();
  if (!section || !section->recording || failed() || timer_) {
    give(step);
    return step + 1;
  }
  Queue& queue = *lanes_[steps_[step].lane].queue;
  for (int other : steps_[step].waits) queue.wait_for(*lanes_[steps_[other].lane].queue, tickets_[other]);
  queue.give(*section->recording);
  if (marked_[section->end - 1]) tickets_[section->end - 1] = queue.mark();
  return section->end;
}

void Flow::give(size_t step) {
  Queue& queue = *lanes_[steps_[step].lane].queue;
  for (int other : steps_[step].waits) queue.wait_for(*lanes_[steps_[other].lane].queue, tickets_[other]);
  works_[turn_][step].of_run = run_;
  queue.give(works_[turn_][step]);
  if (marked_[step]) tickets_[step] = queue.mark();
}

void Flow::carry_out(const StepWork& work) {
  size_t step = work.step;
  if (work.of_run >= failed_run_.load(std::memory_order_acquire)) return;
  auto start = std::chrono::steady_clock::now();
  last_runs_[step] = work.of_run;
  try {
    Device* device = lanes_[steps_[step].lane].device;
    if (device) device->step = step;
    steps_[step].kernel->run(device ? *device : no_device_);
  } catch (...) { return note_failure(work.of_run, step, std::current_exception()); }
  if (timer_) timer_(step, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
}

void Flow::note_failure(uint64_t of_run, size_t step, std::exception_ptr error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (of_run >= failed_run_) return;
  failure_ = {step, error, of_run};
  failed_run_.store(of_run, std::memory_order_release);
}

void Flow::wait_for(const std::vector<int>& steps) {
  for (int step : steps) lanes_[steps_[step].lane].queue->wait(tickets_[step]);
  if (failed()) {
    drain();
    throw_failure();
  }
}

// Waits for the run before the last one; a caller that never waits could otherwise submit an unlimited amount of work.
void Flow::keep_two_runs() {
  turn_ = 1 - turn_;
  ++run_;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) lanes_[lane].queue->wait(ends_[turn_][lane]);
  if (failed()) {
    drain();
    throw_failure();
  }
}

void Flow::settle() {
  require_devices_kept();
  drain();
  if (failed()) throw_failure();
}

// Collects errors of the queues themselves; note_failure keeps the first failure.
void Flow::drain() {
  if (lost_devices()) return;
  for (FlowLane& lane : lanes_) {
    lane.queue->wait(lane.queue->mark());
    std::exception_ptr error = lane.queue->take_error();
    if (error) note_failure(run_, kNoStep, error);
  }
}

void Flow::throw_failure() {
  std::lock_guard<std::mutex> lock(mutex_);
  failed_run_ = kNoRun;
  throw std::exchange(failure_, {});
}

}  // namespace paddle_mini
