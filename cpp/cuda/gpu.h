// Gpu: one GPU of this machine.
#pragma once

#include <mutex>

#include "core/op_table.h"
#include "cuda/memory_pool.h"
#include "cuda/stream_queue.h"

namespace paddle_mini {

class Gpu : public Device, public std::enable_shared_from_this<Gpu> {
 public:
  Gpu(int index, const OpTable& operators);
  ~Gpu() override;

  Place place() const override { return place_; }
  std::string description() const override;
  const OpTable& operators() const override { return operators_; }
  bool gains_from_tiles() const override { return false; }  // its caches are small relative to its memory bandwidth

  std::shared_ptr<void> allocate(size_t bytes) override { return memory_->allocate(bytes, shared_from_this()); }
  MemoryUse memory() const override { return memory_->use(); }
  void forget_peak() override { memory_->forget_peak(); }
  std::shared_ptr<void> allocate_staging(size_t bytes) override {
    return staging_->allocate(bytes, shared_from_this());
  }
  void* address(void* device) const override { return device; }

  void to_host(void* host, const void* device, size_t bytes) override { up_.copy(index_, host, device, bytes); }
  void to_device(void* device, const void* host, size_t bytes) override { down_.copy(index_, device, host, bytes); }
  void within(void* to, const void* from, size_t bytes) override;

  Queue& compute() override { return queue_; }
  void* stream() const override { return queue_.stream(); }
  std::unique_ptr<Work> record(Work& work) override;

 private:
  // Copies in one direction, serialized, on a separate stream.
  class Lane {
   public:
    Lane();
    ~Lane();
    void copy(int device, void* to, const void* from, size_t bytes);

   private:
    std::mutex mutex_;
    cudaStream_t stream_ = nullptr;
  };

  const int index_;
  const Place place_;
  const OpTable& operators_;
  StreamQueue queue_;  // its constructor makes the device current for the members below
  std::shared_ptr<MemoryPool> memory_, staging_;
  Lane up_, down_;
};

}  // namespace paddle_mini
