// Interruption: checks whether the user has requested a stop, between operators and inside long ones.
#pragma once

#include <chrono>

namespace paddle_mini {

// Polls at most every 20 ms: one poll costs more than a small operator.
class InterruptPoller {
 public:
  explicit InterruptPoller(bool (*stop)()) : stop_(stop) {}
  bool operator()() {
    if (!stop_) return false;
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(20)) return false;
    last_ = now;
    return stop_();
  }

 private:
  bool (*stop_)();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// While it lives, kernels of this thread may be stopped midway, unless `stop` is nullptr. The code that creates it must
// undo what a stopped kernel has written.
class Interruptible {
 public:
  explicit Interruptible(InterruptPoller* stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  InterruptPoller* before_;
};
void poll_interruption();  // throws Interrupted if the kernel may be stopped and the user requested it

}  // namespace paddle_mini
