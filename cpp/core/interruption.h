// Interruption: checks whether the user has requested a stop, between operators and inside long ones.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

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

// Elements of a slice: the work between two polls. 16 MiB take well below a second to write even if the system maps the
// pages only then.
constexpr int64_t elements_of_slice(size_t bytes_of_one) {
  return static_cast<int64_t>((size_t{16} << 20) / bytes_of_one);
}

// Calls f(begin, end) for consecutive slices of [0, n). Polls between slices, so an array of one slice is not polled.
template <class F>
void in_slices(int64_t n, size_t bytes_of_one, F f) {
  const int64_t most = elements_of_slice(bytes_of_one);
  for (int64_t begin = 0; begin < n; begin += most) {
    if (begin) poll_interruption();
    f(begin, std::min(begin + most, n));
  }
}

}  // namespace paddle_mini
