// Giving steps to queues, waiting for them, and what happens when one fails.
#include "executor/flow.h"

#include <chrono>
#include <utility>

namespace paddle_mini {

Flow::Flow(std::vector<FlowStep> steps, std::vector<FlowLane> lanes)
    : steps_(std::move(steps)), lanes_(std::move(lanes)), marked_(steps_.size(), false), tickets_(steps_.size(), 0),
      gate_(steps_.size()) {
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
}

void Flow::run(StopAsker& stop, const std::function<void()>& checked) {
  keep_two_runs();
  try {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (i == gate_) {
        wait_for(refusing_);
        checked();
      }
      give(i);
      if (steps_[i].poll && i < gate_ && stop()) throw Interrupted("stopped");
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
  try {
    Device* device = lanes_[steps_[step].lane].device;
    if (device) device->step = step;
    steps_[step].kernel->run(device ? *device : no_device_);
  } catch (...) {
    return note_failure(work.of_run, step, std::current_exception());
  }
  if (timer_) timer_(step, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
}

void Flow::note_failure(uint64_t of_run, size_t step, std::exception_ptr error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (of_run >= failed_run_) return;
  failure_ = {step, error};
  failed_run_.store(of_run, std::memory_order_release);
}

void Flow::wait_for(const std::vector<int>& steps) {
  for (int step : steps) lanes_[steps_[step].lane].queue->wait(tickets_[step]);
  if (failed()) {
    drain();
    throw_failure();
  }
}

// The run before the last one must be done: else a caller that never waits would give work without end.
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
  drain();
  if (failed()) throw_failure();
}

// A device's queue may have failed by itself; the first failure is told.
void Flow::drain() {
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
