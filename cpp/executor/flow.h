// Flow: the steps of a plan in the queues of several devices. A run only gives them their work and waits for what its
// caller needs; the rest goes on behind it, and behind the beginning of the next run.
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
  bool poll = false;       // ask here whether the user wants to stop
};

// A queue, and what kernels in it may ask of.
struct FlowLane {
  Queue* queue = nullptr;
  Accelerator* accelerator = nullptr;  // whose kernels run there; nullptr for transfers and the processor
  Device* device = nullptr;            // of the executor that runs; nullptr for transfers
};

// What a step threw. Steps of the same run that began after it were left out, and all of later runs.
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

  // Before step `gate` is given, steps that may refuse their data have not refused; before run returns, these are done
  // and `needed` ones too.
  void set_waits(size_t gate, std::vector<int> refusing, std::vector<int> needed);
  std::vector<FlowLane>& lanes() { return lanes_; }
  const FlowLane& lane_of(size_t step) const { return lanes_[steps_[step].lane]; }
  // Kernels are given other memory from now on: what was recorded of them is forgotten.
  void forget_recordings();
  const std::vector<int>& waits_of(size_t step) const { return steps_[step].waits; }
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
  // Neighbours of one device that do not wait for each other. After some runs what they launch is recorded, where the device
  // can do that, and then launched as one; PM_GRAPHS=0 turns it off.
  struct Section : Work {
    Flow* flow = nullptr;
    size_t begin = 0, end = 0;
    size_t at = 0;  // the one that is being recorded
    int runs = 0;
    std::unique_ptr<Work> recording;
    void run() override;
  };
  void find_sections();
  void add_section(size_t begin, size_t end);
  void record(Section& section);
  size_t give_from(size_t step);  // the step itself, or the section that begins with it; returns the next one
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
  Device no_device_;              // for transfers, which ask for nothing
  std::vector<StepWork> works_[2];  // of the last two runs, which may both be at work
  std::vector<uint64_t> last_runs_;  // in which each step began last
  std::vector<bool> marked_;      // whether another step waits for it
  std::vector<Ticket> tickets_;   // of the last time each step was given
  std::vector<Ticket> ends_[2];   // of each lane, after each of the last two runs
  std::vector<std::unique_ptr<Section>> sections_;  // by the step that each begins with
  int turn_ = 0;
  uint64_t run_ = 0;
  size_t gate_ = 0;
  std::vector<int> refusing_, needed_;
  std::function<void(size_t, double)> timer_;

  static constexpr uint64_t kNoRun = UINT64_MAX;
  std::atomic<uint64_t> failed_run_{kNoRun};  // the first that failed: what runs before it gave goes on
  std::mutex mutex_;
  FlowFailure failure_{};
};

}  // namespace paddle_mini
