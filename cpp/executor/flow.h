// Flow: the steps of a plan in the queues of several devices. A run only gives them their work and waits for what its
// caller needs; the rest goes on behind it, and behind the beginning of the next run.
#pragma once

#include <functional>

#include "core/interruption.h"
#include "executor/flow_failure.h"
#include "executor/flow_sections.h"

namespace paddle_mini {

// For which steps a run waits: before step `gate` is given, steps that may refuse their data have not refused; before run
// returns, these are done and `needed` ones too.
struct FlowWaits {
  size_t gate;
  std::vector<int> refusing, needed;
};

class Flow {
 public:
  Flow(std::vector<FlowStep> steps, std::vector<FlowLane> lanes, FlowWaits waits);
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  std::vector<FlowLane>& lanes() { return lanes_; }
  const FlowStep& step(size_t step) const { return steps_[step]; }
  // Kernels are given other memory from now on: what was recorded of them is forgotten.
  void forget_recordings();
  // Is called for each step that has run, from any thread, with its number and microseconds; nullptr: for none.
  void set_timer(std::function<void(size_t, double)> timer) { timer_ = std::move(timer); }

  // Throws FlowFailure, or Interrupted from `stop`, with everything that was given done or left out. `checked` is called
  // when the steps that may refuse are done, and may throw.
  void run(StopAsker& stop, const std::function<void()>& checked);
  void settle();  // waits until everything is done; throws FlowFailure
  // Whether a step began in the run that failed, once that was thrown.
  bool began(size_t step, const FlowFailure& failure) const { return last_runs_[step] == failure.run; }
  // Of a failure outside of steps: in a queue of a device.
  static constexpr size_t kNoStep = SIZE_MAX;

 private:
  struct StepWork : Work {
    Flow* flow;
    size_t step;
    uint64_t of_run = 0;  // the number of the run that gave it
    void run() override { flow->carry_out(*this); }
  };
  size_t give_from(size_t step);  // the step itself, or the section that begins with it; returns the next one
  void give(Work& work, size_t first, size_t last);
  void carry_out(const StepWork& work);
  void wait_for(const std::vector<int>& steps);
  void keep_two_runs();
  void drain();

  std::vector<FlowStep> steps_;
  std::vector<FlowLane> lanes_;
  FlowWaits waits_;
  Device no_device_;              // for transfers, which ask for nothing
  std::vector<StepWork> works_[2];  // of the last two runs, which may both be at work
  std::vector<uint64_t> last_runs_;  // in which each step began last
  std::vector<bool> marked_;      // whether another step waits for it
  std::vector<Ticket> tickets_;   // of the last time each step was given
  std::vector<Ticket> ends_[2];   // of each lane, after each of the last two runs
  std::unique_ptr<FlowSections> sections_;
  int turn_ = 0;
  uint64_t run_ = 0;
  std::function<void(size_t, double)> timer_;
  FirstFailure failure_;
};

}  // namespace paddle_mini
