// Allocates memory from the driver and caches freed blocks.
#include "cuda/memory_pool.h"

#include <algorithm>

#include "core/memory.h"
#include "cuda/check.h"

namespace paddle_mini {
namespace {

void* take_device(size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
  cudaGetLastError();
  return nullptr;
}
void give_back_device(void* memory) { cudaFree(memory); }

void* take_pinned(size_t bytes) {
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) == cudaSuccess) return memory;
  cudaGetLastError();
  return nullptr;
}
void give_back_pinned(void* memory) { cudaFreeHost(memory); }

// Rounds to one of four sizes per power of two, so at most a fifth is unused.
size_t rounded(size_t bytes) {
  size_t step = 128;
  while (step < bytes / 8) step *= 2;
  return std::max<size_t>(512, checked_sum(bytes, step - 1) / step * step);
}

size_t total_memory(int device) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, device) == cudaSuccess ? properties.totalGlobalMem : 0;
}

}  // namespace

const MemorySource device_memory{take_device, give_back_device}, pinned_memory{take_pinned, give_back_pinned};

MemoryPool::~MemoryPool() {
  cudaSetDevice(device_);
  for (auto& [size, list] : free_) {
    for (FreeBlock& block : list) source_.give_back(block.memory);
  }
}

std::shared_ptr<void> MemoryPool::allocate(size_t bytes, std::shared_ptr<void> owner) {
  size_t size = rounded(bytes);
  std::lock_guard<std::recursive_mutex> alone(queue_.order());
  std::unique_lock<std::mutex> lock(mutex_);
  void* memory = take(size);
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  lock.unlock();  // free() acquires it, and is called if the reference count can't be allocated
  auto release = [pool = shared_from_this(), owner = std::move(owner), size](void* freed) { pool->free(freed, size); };
  return {memory, std::move(release)};
}

void* MemoryPool::take(size_t size) {
  check(cudaSetDevice(device_), "choosing a device");
  std::vector<FreeBlock>& blocks = free_[size];
  if (!blocks.empty()) {
    FreeBlock last = blocks.back();
    if (last.freed > waited_) {
      check(cudaStreamSynchronize(queue_.stream()), "waiting for work on freed memory");
      waited_ = clock_;
    }
    blocks.pop_back();
    return last.memory;
  }
  void* memory = source_.take(size);
  if (!memory) {
    give_back_free_blocks();
    memory = source_.take(size);
  }
  require<DeviceError>(memory, "out of memory on gpu:", device_, ": ", size, " bytes are wanted, ", in_use_, " of ",
                       total_memory(device_), " are in use");
  reserved_ += size;
  return memory;
}

void MemoryPool::give_back_free_blocks() {
  for (auto& [size, list] : free_) {
    for (FreeBlock& block : list) source_.give_back(block.memory), reserved_ -= size;  // synchronizes with all work
    list.clear();
  }
}

void MemoryPool::free(void* memory, size_t size) {
  std::lock_guard<std::mutex> lock(mutex_);
  in_use_ -= size;
  free_[size].push_back({memory, ++clock_});
}

MemoryUse MemoryPool::use() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {in_use_, reserved_, peak_, total_memory(device_)};
}

void MemoryPool::forget_peak() {
  std::lock_guard<std::mutex> lock(mutex_);
  peak_ = in_use_;
}

}  // namespace paddle_mini
