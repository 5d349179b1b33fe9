// The thread of a queue, and waiting for it.
#include "core/thread_queue.h"

#include <chrono>
#include <utility>

namespace paddle_mini {

ThreadQueue::~ThreadQueue() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  given_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ThreadQueue::give(Work& work) { push({&work, nullptr, 0}); }

void ThreadQueue::wait_for(Queue& other, Ticket ticket) {
  if (&other != this && !other.reached(ticket)) push({nullptr, &other, ticket});
}

void ThreadQueue::push(Command command) {
  bool sleeps;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sleeps = commands_.empty();
    commands_.push_back(command);
    ++count_;
    if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  }
  if (sleeps) given_.notify_one();
}

Ticket ThreadQueue::mark() {
  std::lock_guard<std::mutex> lock(mutex_);
  return count_;
}

void ThreadQueue::wait(Ticket ticket) {
  if (reached(ticket)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  ++waiting_;
  reached_.wait(lock, [&] { return reached(ticket); });
  --waiting_;
}

std::exception_ptr ThreadQueue::take_error() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(error_, nullptr);
}

void ThreadQueue::delay(uint64_t seed, int microseconds) {
  std::lock_guard<std::mutex> lock(mutex_);
  generator_.seed(seed);
  most_delay_ = microseconds;
}

// A command stays in the list while it is carried out, so an empty list means that the thread sleeps.
void ThreadQueue::loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    given_.wait(lock, [&] { return !commands_.empty() || ends_; });
    if (commands_.empty()) return;
    Command command = commands_.front();
    lock.unlock();
    carry_out(command);
    lock.lock();
    commands_.pop_front();
    done_.fetch_add(1, std::memory_order_release);
    if (waiting_) reached_.notify_all();
  }
}

void ThreadQueue::carry_out(const Command& command) {
  if (!command.work) return command.other->wait(command.ticket);
  pause();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (error_) return;
  }
  try {
    command.work->run();
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    error_ = std::current_exception();
  }
}

void ThreadQueue::pause() {
  std::chrono::microseconds time{0};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (most_delay_ == 0) return;
    time = std::chrono::microseconds(generator_() % static_cast<uint64_t>(most_delay_ + 1));
  }
  std::this_thread::sleep_for(time);
}

}  // namespace paddle_mini
