// Flow: executes the steps of a plan asynchronously in the queues of several devices. A run submits all steps and waits
// only for those that its caller needs; the others may overlap the next run.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "core/interruption.h"
#include "core/accelerator.h"
#include "core/kernel.h"

namespace paddle_mini {

struct FlowStep {
  Kernel* kernel = nullptr;
  int lane = 0;
  std::vector<int> waits;  // order.h
  bool poll = false;  // check after this step whether the user wants to stop
};

// A queue and the context of its kernels.
struct FlowLane {
  Queue* queue = nullptr;
  Accelerator* accelerator = nullptr;  // the device of its kernels; nullptr for transfers and the CPU
  Device* device = nullptr;  // of the executor that runs; nullptr for transfers
};

// The exception of a step. Steps of the same run that had not begun, and all steps of later runs, were skipped.
struct FlowFailure {
  size_t step;
  std::exception_ptr error;
  uint64_t run;
};

class Flow {
 public:
  Flow(std::vector<FlowStep> steps, std::vector<FlowLane> lanes);
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // Before step `gate` is submitted, run() waits for the steps `refusing`, which may reject their data; before it
  // returns, for these and the steps `needed`.
  void set_waits(size_t gate, std::vector<int> refusing, std::vector<int> needed);
  std::vector<FlowLane>& lanes() { return lanes_; }
  const FlowLane& lane_of(size_t step) const { return lanes_[steps_[step].lane]; }
  // Discards recordings, because kernels have new memory addresses.
  void forget_recordings();
  const std::vector<int>& waits_of(size_t step) const { return steps_[step].waits; }
  // Sets a function that is called for each executed step, from any thread, with its number and duration in
  // microseconds; nullptr for none.
  void set_timer(std::function<void(size_t, double)> timer) { timer_ = std::move(timer); }

  // Throws FlowFailure, or Interrupted if `stop` requests it; then all submitted work is finished or skipped. Calls
  // `checked`, which may throw, when the steps that may reject their data are done.
  void run(StopAsker& stop, const std::function<void()>& checked);
  void settle();  // waits until all work is done; throws FlowFailure
  // Whether a step had begun in the failed run. Call it after FlowFailure was thrown.
  bool began(size_t step, const FlowFailure& failure) const { return last_runs_[step] == failure.run; }
  // The step of a failure outside of steps, in a device's queue.
  static constexpr size_t kNoStep = SIZE_MAX;

 private:
  struct StepWork : Work {
    Flow* flow;
    size_t step;
    uint64_t of_run = 0;  // the number of the run that submitted it
    void run() override { flow->carry_out(*this); }
  };
  // Consecutive steps of one device that do not wait for other queues. After some runs their launches are recorded, if
  // the device supports it, and then launched as one; PM_GRAPHS=0 turns this off.
  struct Section : Work {
    Flow* flow = nullptr;
    size_t begin = 0, end = 0;
    size_t at = 0;  // the step that is being recorded
    int runs = 0;
    std::unique_ptr<Work> recording;
    void run() override;
  };
  void find_sections();
  void add_section(size_t begin, size_t end);
  void record(Section& section);
  size_t give_from(size_t step);  // submits the step, or the section that begins with it; returns the next step
  void give(size_t step);
  void carry_out(const StepWork& work);
  void note_failure(uint64_t of_run, size_t step, std::exception_ptr error);
  bool failed() const { return failed_run_ != kNoRun; }
  void wait_for(const std::vector<int>& steps);
  void keep_two_runs();
  void drain();
  void throw_failure();

  std::vector<FlowStep> steps_;
  std::vector<FlowLane> lanes_;
  Device no_device_;  // for transfers, which need no context
  std::vector<StepWork> works_[2];  // of the last two runs, which may overlap
  std::vector<uint64_t> last_runs_;  // the last run in which each step began
  std::vector<bool> marked_;  // whether another step waits for it
  std::vector<Ticket> tickets_;  // of the last submission of each step
  std::vector<Ticket> ends_[2];  // of each lane, after each of the last two runs
  std::vector<std::unique_ptr<Section>> sections_;  // indexed by their first step
  int turn_ = 0;
  uint64_t run_ = 0;
  size_t gate_ = 0;
  std::vector<int> refusing_, needed_;
  std::function<void(size_t, double)> timer_;

  static constexpr uint64_t kNoRun = UINT64_MAX;
  std::atomic<uint64_t> failed_run_{kNoRun};  // the first failed run: work of earlier runs continues
  std::mutex mutex_;
  FlowFailure failure_{};
};

}  // namespace paddle_mini
