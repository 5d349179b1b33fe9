// Queue: work that is done in the order given, behind the back of whoever gives it.
#pragma once

#include <cstdint>
#include <exception>

namespace paddle_mini {

// A piece of work, made once and given again and again. It must outlive its last run.
class Work {
 public:
  virtual ~Work() = default;
  virtual void run() = 0;
};

// A point in a queue: it is reached when everything given before is done. 0 is reached at once.
using Ticket = uint64_t;

// One thread gives work at a time. Work that throws fails the queue: what it has been given is dropped, tickets
// count as reached, until take_error() has told somebody.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void give(Work& work) = 0;
  virtual Ticket mark() = 0;                               // the end of what has been given so far
  virtual void wait_for(Queue& other, Ticket ticket) = 0;  // what is given from now on begins after that
  virtual void wait(Ticket ticket) = 0;                    // blocks the calling thread
  virtual bool reached(Ticket ticket) = 0;
  virtual std::exception_ptr take_error() = 0;             // of work that failed; the queue works again
};

}  // namespace paddle_mini
