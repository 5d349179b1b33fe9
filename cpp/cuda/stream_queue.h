// StreamQueue: a queue on a CUDA stream. Submitted work runs immediately on the calling thread; its launches run
// asynchronously.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "core/queue.h"
#include "cuda/runtime_api.h"

namespace paddle_mini {

class StreamQueue : public Queue {
 public:
  explicit StreamQueue(int device);
  ~StreamQueue() override;

  void submit(Work& work) override;
  Event record_event() override;
  void wait_for(Queue& other, Event point) override;
  void wait(Event point) override;
  bool reached(Event point) override;
  std::exception_ptr take_error() override;

  cudaStream_t stream() const { return stream_; }
  // Held by a thread that gives the stream work: a recording must not contain another thread's launches, and an operator with
  // several launches owns the stream's workspace until the last one.
  std::recursive_mutex& order() { return order_; }

 private:
  struct Mark {
    Event point;
    std::shared_ptr<CUevent_st> event;
  };

  std::shared_ptr<CUevent_st> new_event();
  // The CUDA event of `point`, or of the first later one; nullptr if it is reached.
  std::shared_ptr<CUevent_st> event_of(Event point);
  void forget_reached();
  void note(cudaError_t error, const char* what);

  const int device_;
  cudaStream_t stream_ = nullptr;
  std::recursive_mutex order_;  // locked before mutex_
  std::mutex mutex_;  // guards the members below
  std::deque<Mark> marks_;  // ascending; reached marks at the front are removed
  std::shared_ptr<std::vector<cudaEvent_t>> spare_ = std::make_shared<std::vector<cudaEvent_t>>();
  Event last_ = 0;
  std::exception_ptr error_;
};

}  // namespace paddle_mini
