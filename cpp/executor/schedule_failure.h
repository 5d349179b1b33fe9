// schedule_failure: the first step of a schedule that failed, known to all queues at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace paddle_mini {

// The exception of a step. Steps of the same run that had not begun, and all steps of later runs, were skipped.
struct ScheduleFailure {
  size_t step;
  std::exception_ptr error;
  uint64_t run;
};

class FirstFailure {
 public:
  void note(size_t step, std::exception_ptr error, uint64_t run) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (run >= run_) return;
    failure_ = {step, std::move(error), run};
    run_.store(run, std::memory_order_release);
  }
  bool there() const { return run_ != kNoRun; }
  // Steps of runs before the failed one are still executed.
  bool leaves_out(uint64_t run) const { return run >= run_.load(std::memory_order_acquire); }
  void forget() { run_ = kNoRun; }
  void raise() {  // throws it, if there is one, and forgets it
    if (!there()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    forget();
    throw std::exchange(failure_, {});
  }

 private:
  static constexpr uint64_t kNoRun = UINT64_MAX;
  std::atomic<uint64_t> run_{kNoRun};  // the first that failed
  std::mutex mutex_;
  ScheduleFailure failure_{};
};

}  // namespace paddle_mini
