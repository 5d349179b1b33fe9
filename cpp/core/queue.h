// Queue: executes work asynchronously, in the order of submission.
#pragma once

#include <cstdint>
#include <exception>

namespace paddle_mini {

// A piece of work, created once and submitted repeatedly. It must outlive its last execution.
class Work {
 public:
  virtual ~Work() = default;
  virtual void run() = 0;
};

// A point in a queue, reached when all work submitted before it is done. Event 0 is always reached.
using Event = uint64_t;

// One thread submits at a time. Work that throws puts the queue into a failed state: submitted work is dropped and
// events count as reached, until take_error() returns the error.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void submit(Work& work) = 0;
  virtual Event record_event() = 0;                               // the end of the work submitted so far
  virtual void wait_for(Queue& other, Event event) = 0;  // work submitted later starts after that
  virtual void wait(Event event) = 0;                    // blocks the calling thread
  virtual bool reached(Event event) = 0;
  virtual std::exception_ptr take_error() = 0;             // returns the error of failed work and resets the queue
};

}  // namespace paddle_mini
