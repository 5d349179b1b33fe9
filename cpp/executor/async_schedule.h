// AsyncSchedule: executes the steps of a plan asynchronously in the queues of several devices. A run submits all steps and waits
// only for those that its caller needs; the others may overlap the next run.
#pragma once

#include <chrono>
#include <functional>

#include "core/interruption.h"
#include "executor/schedule_failure.h"
#include "executor/schedule_sections.h"

namespace paddle_mini {

// For which steps a run waits: before step `gate` is given, steps that may refuse their data have not refused; before run
// returns, these are done and `needed` ones too.
struct ScheduleWaits {
  size_t gate;
  std::vector<int> refusing, needed;
};

// It has many methods because submission, waiting and failures of a run concern the same events.
class AsyncSchedule {
 public:
  AsyncSchedule(std::vector<ScheduledStep> steps, std::vector<ScheduleLane> lanes, ScheduleWaits waits);
  ~AsyncSchedule();
  AsyncSchedule(const AsyncSchedule&) = delete;
  AsyncSchedule& operator=(const AsyncSchedule&) = delete;

  std::vector<ScheduleLane>& lanes() { return lanes_; }
  const ScheduledStep& step(size_t step) const { return steps_[step]; }
  // Discards recordings, because kernels have new memory addresses.
  void forget_recordings();
  // Called after each step, from any thread, with its number and the time when it began; the step fails if it throws.
  using Observer = std::function<void(size_t, std::chrono::steady_clock::time_point)>;
  // Calls an observer while it lives; nullptr is none. With an observer, no work may be pending at both ends.
  class Observed {
   public:
    Observed(AsyncSchedule& schedule, Observer observer) : schedule_(schedule), on_(observer != nullptr) {
      if (on_) schedule.observer_ = std::move(observer);
    }
    ~Observed() {
      if (on_) schedule_.observer_ = nullptr;
    }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

   private:
    AsyncSchedule& schedule_;
    bool on_;
  };

  // Throws ScheduleFailure, or Interrupted if `stop` requests it; then all submitted work is finished or skipped. Calls
  // `checked`, which may throw, when the steps that may reject their data are done.
  void run(InterruptPoller& stop, const std::function<void()>& checked);
  void synchronize();  // waits until all work is done; throws ScheduleFailure
  // Whether a step had begun in the failed run. Call it after ScheduleFailure was thrown.
  bool began(size_t step, const ScheduleFailure& failure) const { return last_runs_[step] == failure.run; }
  // The step of a failure outside of steps, in a device's queue.
  static constexpr size_t kNoStep = SIZE_MAX;

 private:
  struct StepWork : Work {
    AsyncSchedule* schedule;
    size_t step;
    uint64_t of_run = 0;  // the number of the run that submitted it
    void run() override { schedule->execute(*this); }
  };
  size_t submit_from(size_t step);  // submits the step, or the section that begins with it; returns the next step
  void submit(Work& work, size_t first, size_t last);
  void execute(const StepWork& work);
  void note_run(size_t step, uint64_t run);
  void observe(size_t step, std::chrono::steady_clock::time_point begin);
  void wait_for(const std::vector<int>& steps);
  void keep_two_runs();
  void drain(bool in_run = false);

  std::vector<ScheduledStep> steps_;
  std::vector<ScheduleLane> lanes_;
  ScheduleWaits waits_;
  KernelContext no_device_;  // for transfers, which need no context
  std::vector<StepWork> works_[2];  // the work of the last two runs, which may overlap
  std::vector<uint64_t> last_runs_;  // the last run in which each step began
  std::vector<bool> marked_;  // whether another step waits for it
  std::vector<Event> events_;  // after the last submission of each step
  std::vector<Event> ends_[2];  // for each lane, after each of the last two runs
  std::unique_ptr<ScheduleSections> sections_;
  int turn_ = 0;
  uint64_t run_ = 0;
  Observer observer_;
  FirstFailure failure_;
};

}  // namespace paddle_mini
