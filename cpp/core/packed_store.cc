// Finds and makes the copies.
#include "core/packed_store.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/memory_limit.h"

namespace paddle_mini {
namespace {

std::atomic<size_t> bytes_of_all{0};

}  // namespace

std::shared_ptr<PackedCopy> PackedStore::at(const Key& key, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = copies_.begin(); it != copies_.end();) it = it->second.expired() ? copies_.erase(it) : std::next(it);
  auto held = copies_.find(key);
  if (held != copies_.end()) {
    if (std::shared_ptr<PackedCopy> copy = held->second.lock()) return copy;
  }
  if (!has_room_for_copy(bytes, bytes_of_all)) return nullptr;
  std::shared_ptr<void> memory;
  try {
    memory = allocate(bytes);
  } catch (const DeviceError&) { return nullptr; }
  auto fresh = std::make_unique<PackedCopy>();
  bytes_of_all += bytes;
  std::shared_ptr<PackedCopy> copy(fresh.release(), [bytes](PackedCopy* gone) {
    bytes_of_all -= bytes;
    delete gone;
  });
  copy->memory = std::move(memory);
  copies_[key] = copy;
  return copy;
}

}  // namespace paddle_mini
