// Implements the thread of a queue and waiting for it.
#include "core/thread_queue.h"

#include <chrono>
#include <utility>

#include "core/fork.h"

namespace paddle_mini {

ThreadQueue::~ThreadQueue() {
  if (lost_devices()) {
    static_cast<void>(state_.release());
    return;
  }
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->ends = true;
  }
  state_->given.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

void ThreadQueue::submit(Work& work) { push({&work, nullptr, 0}); }

void ThreadQueue::submit_short(Work& work) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  if (!state_->commands.empty()) {
    lock.unlock();
    return submit(work);
  }
  Command command{&work, nullptr, 0};
  state_->commands.push_back(command);
  ++count_;
  state_->elsewhere = true;
  lock.unlock();
  execute(command);
  lock.lock();
  state_->elsewhere = false;
  end_first();
  if (!state_->commands.empty()) state_->given.notify_one();
}

void ThreadQueue::wait_for(Queue& other, Event event) {
  if (&other != this && !other.reached(event)) push({nullptr, &other, event});
}

void ThreadQueue::push(Command command) {
  bool sleeps;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    sleeps = state_->commands.empty();
    state_->commands.push_back(command);
    ++count_;
    if (!state_->thread.joinable()) state_->thread = std::thread([this] { loop(); });
  }
  if (sleeps) state_->given.notify_one();
}

Event ThreadQueue::record_event() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return count_;
}

void ThreadQueue::wait(Event event) {
  if (reached(event)) return;
  std::unique_lock<std::mutex> lock(state_->mutex);
  ++state_->waiting;
  state_->reached.wait(lock, [&] { return reached(event); });
  --state_->waiting;
}

std::exception_ptr ThreadQueue::take_error() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return std::exchange(state_->error, nullptr);
}

void ThreadQueue::delay(uint64_t seed, int microseconds) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->generator.seed(seed);
  state_->most_delay = microseconds;
}

// A command stays in the list while it executes, so an empty list means that the thread sleeps.
void ThreadQueue::loop() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  while (true) {
    state_->given.wait(lock, [&] { return (!state_->commands.empty() && !state_->elsewhere) || state_->ends; });
    if (state_->commands.empty()) return;
    Command command = state_->commands.front();
    lock.unlock();
    execute(command);
    lock.lock();
    end_first();
  }
}

void ThreadQueue::end_first() {
  state_->commands.pop_front();
  done_.fetch_add(1, std::memory_order_release);
  if (state_->waiting) state_->reached.notify_all();
}

void ThreadQueue::execute(const Command& command) {
  if (!command.work) return command.other->wait(command.event);
  pause();
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->error) return;
  }
  try {
    command.work->run();
  } catch (...) {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->error = std::current_exception();
  }
}

void ThreadQueue::pause() {
  std::chrono::microseconds time{0};
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->most_delay == 0) return;
    time = std::chrono::microseconds(state_->generator() % static_cast<uint64_t>(state_->most_delay + 1));
  }
  std::this_thread::sleep_for(time);
}

}  // namespace paddle_mini
