// ThreadQueue: a queue that one thread of its own works off; the thread begins with the first work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
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

  // What a child of fork() must not destroy: its waiters are in a thread that is not there.
  struct State {
    std::mutex mutex;
    std::condition_variable given, reached;
    std::deque<Command> commands;
    int waiting = 0;  // threads in wait()
    bool ends = false;
    std::exception_ptr error;
    std::mt19937_64 generator;
    int most_delay = 0;
    std::thread thread;
  };
  std::unique_ptr<State> state_ = std::make_unique<State>();
  Ticket count_ = 0;  // commands given so far
  std::atomic<Ticket> done_{0};
};

}  // namespace paddle_mini
