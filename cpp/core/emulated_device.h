// An accelerator made of the processor: memory that the host can't read by accident, a queue in a thread, a link of
// a certain bandwidth, and the processor's kernels. What is true of it in ordering, placement and cost is true of a GPU.
#pragma once

#include <chrono>
#include <mutex>

#include "core/accelerator.h"
#include "core/op_table.h"
#include "core/thread_queue.h"

namespace paddle_mini {

struct Emulation {
  double bandwidth = 0;  // of the link to the host in either direction, bytes a second; 0: as fast as memory is
  double latency = 0;  // seconds that every transfer takes besides
  size_t memory = size_t{1} << 34;  // bytes that it has
  size_t staging = size_t{1} << 26;  // bytes of the host for values that pass piece by piece
  uint64_t delay_seed = 0;  // of random pauses before each piece of work
  int most_delay = 0;  // microseconds; 0: no pauses
};

// Bytes of the device in use, with whoever gives them back.
class EmulatedMemory {
 public:
  void take(size_t bytes, size_t total, const std::string& device);
  void give_back(size_t bytes);
  MemoryUse use(size_t total) const;
  void forget_peak();

 private:
  mutable std::mutex mutex_;
  size_t in_use_ = 0, peak_ = 0;
};

class EmulatedDevice : public Accelerator, public std::enable_shared_from_this<EmulatedDevice> {
 public:
  EmulatedDevice(int index, const OpTable& operators);
  void set(const Emulation& emulation);  // work that is on its way sees the one or the other

  Place place() const override { return {DeviceKind::Emulated, index_}; }
  std::string description() const override;
  const OpTable& operators() const override { return operators_; }
  bool gains_from_tiles() const override { return true; }

  std::shared_ptr<void> allocate(size_t bytes) override;
  MemoryUse memory() const override;
  void forget_peak() override { memory_.forget_peak(); }
  std::shared_ptr<void> allocate_staging(size_t bytes) override { return paddle_mini::allocate(bytes); }
  size_t staging_bytes() const override { return emulation().staging; }
  void* address(void* device) const override;

  void to_host(void* host, const void* device, size_t bytes) override;
  void to_device(void* device, const void* host, size_t bytes) override;
  void within(void* to, const void* from, size_t bytes) override;

  Queue& compute() override { return queue_; }
  void* stream() const override { return nullptr; }

 private:
  // One direction of the link: transfers go one after the other.
  struct Link {
    std::mutex mutex;
    std::chrono::steady_clock::time_point free{};
  };
  void pass(Link& link, size_t bytes, std::chrono::steady_clock::time_point start);

  int index_;
  const OpTable& operators_;
  // Work of an earlier run may still be on its way when it is set.
  Emulation emulation() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return emulation_;
  }

  mutable std::mutex mutex_;
  Emulation emulation_;
  EmulatedMemory memory_;
  Link to_host_, to_device_;
  ThreadQueue queue_;
};

}  // namespace paddle_mini
