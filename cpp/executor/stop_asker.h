// Whether the user wants a run to stop.
#pragma once

#include <chrono>

namespace paddle_mini {

// Asks at most every 20 ms: asking costs more than a small operator.
class StopAsker {
 public:
  explicit StopAsker(bool (*stop)()) : stop_(stop) {}
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

}  // namespace paddle_mini
