// Implements events by CUDA events. Launch errors are detected when work is submitted, later errors when a thread waits.
#include "cuda/stream_queue.h"

#include <utility>

#include "cuda/check.h"

namespace paddle_mini {

StreamQueue::StreamQueue(int device) : device_(device) {
  check(cudaSetDevice(device), "choosing a device");
  stream_ = new_stream();
}

StreamQueue::~StreamQueue() {
  cudaSetDevice(device_);
  cudaStreamSynchronize(stream_);
  marks_.clear();
  for (cudaEvent_t event : *spare_) cudaEventDestroy(event);
  cudaStreamDestroy(stream_);
}

void StreamQueue::submit(Work& work) {
  std::lock_guard<std::recursive_mutex> alone(order_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (error_) return;
  }
  try {
    check(cudaSetDevice(device_), "choosing a device");
    work.run();
    check(cudaGetLastError(), "launching a kernel");
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    error_ = std::current_exception();
  }
}

// Reached events that no thread waits for are reused.
std::shared_ptr<CUevent_st> StreamQueue::new_event() {
  cudaEvent_t event = nullptr;
  if (!spare_->empty()) {
    event = spare_->back();
    spare_->pop_back();
  } else {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  }
  return {event, [](cudaEvent_t) {}};
}

Event StreamQueue::record_event() {
  std::lock_guard<std::recursive_mutex> alone(order_);
  std::lock_guard<std::mutex> lock(mutex_);
  cudaSetDevice(device_);
  forget_reached();
  std::shared_ptr<CUevent_st> event = new_event();
  check(cudaEventRecord(event.get(), stream_), "marking a stream");
  marks_.push_back({++last_, std::move(event)});
  return last_;
}

void StreamQueue::forget_reached() {
  while (!marks_.empty() && marks_.front().event.use_count() == 1) {
    cudaError_t state = cudaEventQuery(marks_.front().event.get());
    if (state == cudaErrorNotReady) {
      cudaGetLastError();  // clears the error: "not ready" is not a failure
      return;
    }
    if (state != cudaSuccess) return;  // a wait for it will report the error
    spare_->push_back(marks_.front().event.get());
    marks_.pop_front();
  }
}

std::shared_ptr<CUevent_st> StreamQueue::event_of(Event point) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Mark& mark : marks_) {
    if (mark.point >= point && point != 0) return mark.event;
  }
  return nullptr;
}

void StreamQueue::wait_for(Queue& other, Event point) {
  auto stream = dynamic_cast<StreamQueue*>(&other);
  if (!stream) return other.wait(point);
  std::shared_ptr<CUevent_st> event = stream->event_of(point);
  if (!event) return;
  std::lock_guard<std::recursive_mutex> alone(order_);
  cudaSetDevice(device_);
  note(cudaStreamWaitEvent(stream_, event.get(), 0), "waiting for another stream");
}

void StreamQueue::wait(Event point) {
  if (std::shared_ptr<CUevent_st> event = event_of(point)) note(cudaEventSynchronize(event.get()), "running a kernel");
}

bool StreamQueue::reached(Event point) {
  std::shared_ptr<CUevent_st> event = event_of(point);
  if (!event) return true;
  cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  note(state, "running a kernel");
  return true;
}

void StreamQueue::note(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::lock_guard<std::mutex> lock(mutex_);
  try {
    check(error, what);
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
}

std::exception_ptr StreamQueue::take_error() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(error_, nullptr);
}

}  // namespace paddle_mini
