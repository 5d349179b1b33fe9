// Implements submission of steps to queues, waiting, and failure handling.
#include "executor/async_schedule.h"

#include "core/fork.h"

namespace paddle_mini {

AsyncSchedule::AsyncSchedule(std::vector<ScheduledStep> steps, std::vector<ScheduleLane> lanes, ScheduleWaits waits)
    : steps_(std::move(steps)), lanes_(std::move(lanes)), waits_(std::move(waits)), last_runs_(steps_.size(), 0),
      marked_(steps_.size(), false), events_(steps_.size(), 0) {
  for (auto& works : works_) works.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (auto& works : works_) {
      works[i].schedule = this;
      works[i].step = i;
    }
    for (int other : steps_[i].waits) marked_[other] = true;
  }
  for (auto& ends : ends_) ends.assign(lanes_.size(), 0);
  for (int step : waits_.refusing) marked_[step] = true;
  for (int step : waits_.needed) marked_[step] = true;
  sections_ = std::make_unique<ScheduleSections>(steps_, lanes_, marked_, waits_.gate);
}

AsyncSchedule::~AsyncSchedule() { drain(); }

void AsyncSchedule::run(InterruptPoller& stop, const std::function<void()>& checked) {
  require_devices_kept();
  keep_two_runs();
  try {
    for (size_t i = 0; i < steps_.size();) {
      if (i == waits_.gate) {
        wait_for(waits_.refusing);
        checked();
      }
      i = submit_from(i);
      if (steps_[i - 1].poll && i <= waits_.gate && stop()) throw Interrupted("stopped");
    }
    wait_for(waits_.needed);
    if (waits_.gate >= steps_.size()) {
      wait_for(waits_.refusing);
      checked();
    }
  } catch (...) {
    try {
      drain(true);
    } catch (const Error&) {}  // a device that failed can't be waited for; the first error names the step
    failure_.forget();
    throw;
  }
  for (size_t lane = 0; lane < lanes_.size(); ++lane) ends_[turn_][lane] = lanes_[lane].queue->record_event();
}

void AsyncSchedule::forget_recordings() {
  drain();
  sections_->forget_recordings();
}

size_t AsyncSchedule::submit_from(size_t step) {
  const ScheduleSections::Section* section = failure_.there() ? nullptr : sections_->recorded(step);
  if (section && !failure_.there() && !observer_) {
    submit(*section->recording, step, section->end - 1);
    for (size_t i = step; i < section->end; ++i) note_run(i, run_);
    return section->end;
  }
  works_[turn_][step].of_run = run_;
  submit(works_[turn_][step], step, step);
  return step + 1;
}

// The work of the steps from `first` to `last`.
void AsyncSchedule::submit(Work& work, size_t first, size_t last) {
  Queue& queue = *lanes_[steps_[first].lane].queue;
  for (int other : steps_[first].waits) queue.wait_for(*lanes_[steps_[other].lane].queue, events_[other]);
  if (steps_[first].is_short && lanes_[steps_[first].lane].thread)
    lanes_[steps_[first].lane].thread->submit_short(work);
  else queue.submit(work);
  if (marked_[last]) events_[last] = queue.record_event();
}

void AsyncSchedule::execute(const StepWork& work) {
  size_t step = work.step;
  if (failure_.leaves_out(work.of_run)) return;
  std::chrono::steady_clock::time_point begin;
  if (observer_) begin = std::chrono::steady_clock::now();
  note_run(step, work.of_run);
  try {
    KernelContext* context = lanes_[steps_[step].lane].context;
    if (context) context->step = step;
    steps_[step].kernel->run(context ? *context : no_device_);
    if (observer_) observe(step, begin);
  } catch (...) { failure_.note(step, std::current_exception(), work.of_run); }
}

void AsyncSchedule::note_run(size_t step, uint64_t run) {
  last_runs_[step] = run;
  if (steps_[step].begun) *steps_[step].begun = true;
}

// A device with a stream has only launched the step.
void AsyncSchedule::observe(size_t step, std::chrono::steady_clock::time_point begin) {
  const ScheduleLane& lane = lanes_[steps_[step].lane];
  if (lane.context && lane.context->stream) lane.queue->wait(lane.queue->record_event());
  observer_(step, begin);
}

void AsyncSchedule::wait_for(const std::vector<int>& steps) {
  for (int step : steps) lanes_[steps_[step].lane].queue->wait(events_[step]);
  if (!failure_.there()) return;
  drain(true);
  failure_.raise();
}

// Waits for the run before the last one; a caller that never waits could otherwise submit an unlimited amount of work.
void AsyncSchedule::keep_two_runs() {
  turn_ = 1 - turn_;
  ++run_;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) lanes_[lane].queue->wait(ends_[turn_][lane]);
  if (!failure_.there()) return;
  drain();
  failure_.raise();
}

void AsyncSchedule::synchronize() {
  require_devices_kept();
  drain();
  failure_.raise();
}

// Waits for the work of this schedule only: later work in a queue may be a sum that waits for a replica whose thread is the
// calling one. Collects errors of the queues themselves; failure_ keeps the first one.
void AsyncSchedule::drain(bool in_run) {
  if (lost_devices()) return;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (in_run) ends_[turn_][i] = lanes_[i].queue->record_event();
    for (const std::vector<Event>& ends : ends_) lanes_[i].queue->wait(ends[i]);
    std::exception_ptr error = lanes_[i].queue->take_error();
    if (error) failure_.note(kNoStep, error, run_);
  }
}

}  // namespace paddle_mini
