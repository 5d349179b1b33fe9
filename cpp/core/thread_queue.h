// ThreadQueue: a queue that one thread of its own works off; the thread begins with the first work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "core/queue.h"

namespace paddle_mini {

class ThreadQueue : public Queue {
 public:
  ~ThreadQueue() override;  // when everything that was given is done

  void give(Work& work) override;
  Ticket mark() override;
  void wait_for(Queue& other, Ticket ticket) override;
  void wait(Ticket ticket) override;
  bool reached(Ticket ticket) override { return done_.load(std::memory_order_acquire) >= ticket; }
  std::exception_ptr take_error() override;

  // Waits up to `microseconds`, at random, before each piece of work: for tests of what is ordered and what only
  // happened to be. 0 ends that.
  void delay(uint64_t seed, int microseconds);

 private:
  struct Command {
    Work* work;   // or nullptr: wait for `other` to reach `ticket`
    Queue* other;
    Ticket ticket;
  };
  void push(Command command);
  void loop();
  void carry_out(const Command& command);
  void pause();

  std::mutex mutex_;
  std::condition_variable given_, reached_;
  std::deque<Command> commands_;
  Ticket count_ = 0;              // commands given so far
  std::atomic<Ticket> done_{0};
  int waiting_ = 0;               // threads in wait()
  bool ends_ = false;
  std::exception_ptr error_;
  std::mt19937_64 generator_;
  int most_delay_ = 0;
  std::thread thread_;
};

}  // namespace paddle_mini
