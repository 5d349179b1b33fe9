// ThreadQueue: a queue executed by its own thread, which starts with the first work.
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
  ~ThreadQueue() override;  // blocks until all submitted work is done

  void submit(Work& work) override;
  // Runs short work on the calling thread if the queue is idle: it would wait longer for the other thread.
  void submit_short(Work& work);
  Event record_event() override;
  void wait_for(Queue& other, Event event) override;
  void wait(Event event) override;
  bool reached(Event event) override { return done_.load(std::memory_order_acquire) >= event; }
  std::exception_ptr take_error() override;

  // Delays each piece of work by a random time up to `microseconds`, so that tests detect an order that holds only by
  // chance. 0 turns it off.
  void delay(uint64_t seed, int microseconds);

 private:
  struct Command {
    Work* work;   // nullptr: wait for `other` to reach `event`
    Queue* other;
    Event event;
  };
  void push(Command command);
  void loop();
  void end_first();  // after its execution, with the lock
  void execute(const Command& command);
  void pause();

  // A child of fork() must not destroy this: the threads that wait in it do not exist there.
  struct State {
    std::mutex mutex;
    std::condition_variable given, reached;
    std::deque<Command> commands;
    int waiting = 0;  // number of threads in wait()
    bool elsewhere = false;  // submit_short() executes the first command
    bool ends = false;
    std::exception_ptr error;
    std::mt19937_64 generator;
    int most_delay = 0;
    std::thread thread;
  };
  std::unique_ptr<State> state_ = std::make_unique<State>();
  Event count_ = 0;  // number of commands submitted
  std::atomic<Event> done_{0};
};

}  // namespace paddle_mini
