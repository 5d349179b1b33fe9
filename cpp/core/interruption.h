// Interruption: whether the user wants a run to stop; asked between operators, and inside those that take long.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

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

// While it lives, the kernels that this thread runs may be stopped in their middle; nullptr: they may not. The code that
// makes it must undo what a stopped kernel has written.
class Interruptible {
 public:
  explicit Interruptible(StopAsker* stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  StopAsker* before_;
};
void poll_interruption();  // Interrupted where the kernel may be stopped and the user wants that

// What is done between two polls: 16 MiB, which are written well within a second even where the system gives the memory
// only then.
constexpr int64_t elements_of_slice(size_t bytes_of_one) {
  return static_cast<int64_t>((size_t{16} << 20) / bytes_of_one);
}

// f(begin, end) for slices of [0, n), in order. Between slices it polls; a small array is one slice, so it is not polled.
template <class F>
void in_slices(int64_t n, size_t bytes_of_one, F f) {
  const int64_t most = elements_of_slice(bytes_of_one);
  for (int64_t begin = 0; begin < n; begin += most) {
    if (begin) poll_interruption();
    f(begin, std::min(begin + most, n));
  }
}

}  // namespace paddle_mini
