// A slot of the handle table holds a generation number, incremented for each object in it, and two bits: whether the
// slot has an object, and whether a thread is in a call for it. One compare-and-swap enters a call.
#include "optimizer/handles.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace paddle_mini {

// Each slot has its own cache line, so threads with different objects do not share one.
struct alignas(64) Handle::Place {
  std::atomic<uint64_t> word{kEmpty};
  std::unique_ptr<ParameterOptimizer> object;

  static constexpr uint64_t kEmpty = 0, kThere = 1, kBusy = 3, kBits = 2;
};

// Lives as long as the process: slots are reused and never freed.
class HandleTable {
 public:
  static constexpr uint64_t kPlaceBits = sizeof(void*) == 8 ? 24 : 16, kChunkBits = 10;
  static constexpr uint64_t kPlaces = uint64_t{1} << kPlaceBits, kChunk = uint64_t{1} << kChunkBits;
  static constexpr uint64_t kGenerations = uint64_t{1} << (8 * sizeof(void*) - kPlaceBits - 1);

  // fork() must not copy a locked mutex into the child.
  HandleTable() {
    pthread_atfork([] { table().mutex_.lock(); }, [] { table().mutex_.unlock(); }, [] { table().mutex_.unlock(); });
  }
  static HandleTable& table() {
    static HandleTable& once = *new HandleTable;
    return once;
  }

  Handle::Place* place(uint64_t index) {
    Handle::Place* chunk = chunks_[index >> kChunkBits].load(std::memory_order_acquire);
    return chunk ? chunk + (index & (kChunk - 1)) : nullptr;
  }

  uint64_t take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      uint64_t index = free_.back();
      free_.pop_back();
      return index;
    }
    require<DeviceError>(used_ < kPlaces, "there are ", used_, " optimizers already");
    if (!place(used_)) chunks_[used_ >> kChunkBits].store(new Handle::Place[kChunk], std::memory_order_release);
    free_.reserve(used_ + 1);  // so that give_back() never allocates
    return used_++;
  }
  void give_back(uint64_t index) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(index);
  }

 private:
  std::atomic<Handle::Place*> chunks_[kPlaces >> kChunkBits] = {};
  std::mutex mutex_;
  std::vector<uint64_t> free_;
  uint64_t used_ = 0;
};

namespace {

uint64_t index_of(const void* handle) { return reinterpret_cast<uintptr_t>(handle) & (HandleTable::kPlaces - 1); }
uint64_t tenant_of(const void* handle) { return reinterpret_cast<uintptr_t>(handle) >> HandleTable::kPlaceBits; }

}  // namespace

void* Handle::add(std::unique_ptr<ParameterOptimizer> object) {
  HandleTable& table = HandleTable::table();
  uint64_t index = table.take();
  Place& place = *table.place(index);
  uint64_t generation = (place.word.load(std::memory_order_relaxed) >> Place::kBits) + 1;
  if (generation == HandleTable::kGenerations) generation = 1;
  place.object = std::move(object);
  place.word.store(generation << Place::kBits | Place::kThere, std::memory_order_release);
  return reinterpret_cast<void*>(static_cast<uintptr_t>(generation << HandleTable::kPlaceBits | index));
}

Handle::Handle(const void* handle) : place_(HandleTable::table().place(index_of(handle))), tenant_(tenant_of(handle)) {
  require<ProgramError>(handle, "the optimizer is NULL");
  require<ProgramError>(place_ && tenant_, "this is not an optimizer");
  uint64_t found = tenant_ << Place::kBits | Place::kThere, busy = tenant_ << Place::kBits | Place::kBusy;
  if (place_->word.compare_exchange_strong(found, busy, std::memory_order_acquire)) return;
  require<ProgramError>(found >> Place::kBits == tenant_ && (found & Place::kThere), "this optimizer was released");
  fail<Busy>("another thread is in a call for this optimizer");
}

Handle::~Handle() {
  if (place_) place_->word.store(tenant_ << Place::kBits | Place::kThere, std::memory_order_release);
}

ParameterOptimizer& Handle::operator*() const { return *place_->object; }

void Handle::release(const void* handle) {
  Handle held(handle);
  std::unique_ptr<ParameterOptimizer> object = std::move(held.place_->object);
  held.place_->word.store(held.tenant_ << Place::kBits, std::memory_order_release);
  held.place_ = nullptr;  // the destructor must not write to the slot
  HandleTable::table().give_back(index_of(handle));
}

}  // namespace paddle_mini
