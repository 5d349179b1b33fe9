// EmulatedDevice: a device emulated on the CPU. It has memory that the host can't read by accident, a queue in a
// thread, a host link of limited bandwidth, and the CPU's kernels. Ordering, placement and transfer cost behave as on a
// GPU.
#pragma once

#include <chrono>
#include <mutex>

#include "core/device.h"
#include "core/op_table.h"
#include "core/thread_queue.h"

namespace paddle_mini {

struct Emulation {
  double bandwidth = 0;  // bytes per second in each direction of the host link; 0: unlimited
  double latency = 0;  // seconds added to every transfer
  size_t memory = size_t{1} << 34;  // capacity in bytes
  size_t staging = size_t{1} << 26;  // bytes of host memory for values that pass chunk by chunk
  uint64_t delay_seed = 0;  // seed of the random delays before each piece of work
  int most_delay = 0;  // the longest delay in microseconds; 0: none
};

// Thread-safe accounting of the device's allocated bytes.
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

class EmulatedDevice : public Device, public std::enable_shared_from_this<EmulatedDevice> {
 public:
  EmulatedDevice(int index, const OpTable& operators);
  void set(const Emulation& emulation);  // running work uses the old or the new settings

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
  // One direction of the link: transfers run one after the other.
  struct Link {
    std::mutex mutex;
    std::chrono::steady_clock::time_point free{};
  };
  void pass(Link& link, size_t bytes, std::chrono::steady_clock::time_point start);

  int index_;
  const OpTable& operators_;
  // Work of an earlier run may still execute when the settings change.
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
