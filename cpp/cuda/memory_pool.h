// MemoryPool: caches freed memory of a GPU, or pinned host memory for transfers, for later allocations of the same
// size, since an allocation by the driver costs as much as a hundred launches.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device.h"
#include "cuda/stream_queue.h"

namespace paddle_mini {

// The driver's allocation functions; take() returns nullptr on failure. The device is current when they are called.
struct MemorySource {
  void* (*take)(size_t bytes);
  void (*give_back)(void* memory);
};
extern const MemorySource device_memory, pinned_memory;

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  // `queue` runs all work that may still access freed memory.
  MemoryPool(int device, MemorySource source, StreamQueue& queue) : device_(device), source_(source), queue_(queue) {}
  ~MemoryPool();

  // The memory keeps the pool and `owner` alive.
  std::shared_ptr<void> allocate(size_t bytes, std::shared_ptr<void> owner);
  MemoryUse use() const;
  void forget_peak();

 private:
  struct FreeBlock {
    void* memory;
    uint64_t freed;  // value of clock_ when it was freed
  };

  void free(void* memory, size_t size);
  void* take(size_t size);
  void give_back_free_blocks();

  const int device_;
  const MemorySource source_;
  StreamQueue& queue_;
  mutable std::mutex mutex_;
  std::map<size_t, std::vector<FreeBlock>> free_;
  uint64_t clock_ = 0, waited_ = 0;  // memory freed up to `waited_` is no longer accessed
  size_t in_use_ = 0, reserved_ = 0, peak_ = 0;
};

}  // namespace paddle_mini
