// A slot of the handle table holds a generation number, incremented for each object in it, and two bits: whether the
// slot has an object, and whether a thread is in a call for it. One compare-and-swap enters a call.
#include "optimizer/handles.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace paddle_mini {

// Each slot has its own cache line, so threads with different objects do not share one.
struct alignas(64) Handle::Slot {
  std::atomic<uint64_t> word{kEmpty};
  std::unique_ptr<ParameterOptimizer> object;

  static constexpr uint64_t kEmpty = 0, kThere = 1, kBusy = 3, kBits = 2;
};

// Lives as long as the process: slots are reused and never freed.
class HandleTable {
 public:
  static constexpr uint64_t kIndexBits = sizeof(void*) == 8 ? 24 : 16, kChunkBits = 10;
  static constexpr uint64_t kSlots = uint64_t{1} << kIndexBits, kChunk = uint64_t{1} << kChunkBits;
  static constexpr uint64_t kGenerations = uint64_t{1} << (8 * sizeof(void*) - kIndexBits - 1);

  // fork() must not copy a locked mutex into the child.
  HandleTable() {
    pthread_atfork([] { table().mutex_.lock(); }, [] { table().mutex_.unlock(); }, [] { table().mutex_.unlock(); });
  }
  static HandleTable& table() {
    static HandleTable& once = *new HandleTable;
    return once;
  }

  Handle::Slot* slot(uint64_t index) {
    Handle::Slot* chunk = chunks_[index >> kChunkBits].load(std::memory_order_acquire);
    return chunk ? chunk + (index & (kChunk - 1)) : nullptr;
  }

  uint64_t take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      uint64_t index = free_.back();
      free_.pop_back();
      return index;
    }
    require<DeviceError>(used_ < kSlots, "there are ", used_, " optimizers already");
    if (!slot(used_)) chunks_[used_ >> kChunkBits].store(new Handle::Slot[kChunk], std::memory_order_release);
    free_.reserve(used_ + 1);  // so that give_back() never allocates
    return used_++;
  }
  void give_back(uint64_t index) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(index);
  }

 private:
  std::atomic<Handle::Slot*> chunks_[kSlots >> kChunkBits] = {};
  std::mutex mutex_;
  std::vector<uint64_t> free_;
  uint64_t used_ = 0;
};

namespace {

uint64_t index_of(const void* handle) { return reinterpret_cast<uintptr_t>(handle) & (HandleTable::kSlots - 1); }
uint64_t generation_of(const void* handle) { return reinterpret_cast<uintptr_t>(handle) >> HandleTable::kIndexBits; }

}  // namespace

void* Handle::add(std::unique_ptr<ParameterOptimizer> object) {
  HandleTable& table = HandleTable::table();
  uint64_t index = table.take();
  Slot& slot = *table.slot(index);
  uint64_t generation = (slot.word.load(std::memory_order_relaxed) >> Slot::kBits) + 1;
  if (generation == HandleTable::kGenerations) generation = 1;
  slot.object = std::move(object);
  slot.word.store(generation << Slot::kBits | Slot::kThere, std::memory_order_release);
  return reinterpret_cast<void*>(static_cast<uintptr_t>(generation << HandleTable::kIndexBits | index));
}

Handle::Handle(const void* handle)
    : slot_(HandleTable::table().slot(index_of(handle))), generation_(generation_of(handle)) {
  require<ProgramError>(handle, "the optimizer is NULL");
  require<ProgramError>(slot_ && generation_, "this is not an optimizer");
  uint64_t found = generation_ << Slot::kBits | Slot::kThere, busy = generation_ << Slot::kBits | Slot::kBusy;
  if (slot_->word.compare_exchange_strong(found, busy, std::memory_order_acquire)) return;
  require<ProgramError>(found >> Slot::kBits == generation_ && (found & Slot::kThere), "this optimizer was released");
  fail<Busy>("another thread is in a call for this optimizer");
}

Handle::~Handle() {
  if (slot_) slot_->word.store(generation_ << Slot::kBits | Slot::kThere, std::memory_order_release);
}

ParameterOptimizer& Handle::operator*() const { return *slot_->object; }

void Handle::release(const void* handle) {
  Handle held(handle);
  std::unique_ptr<ParameterOptimizer> object = std::move(held.slot_->object);
  held.slot_->word.store(held.generation_ << Slot::kBits, std::memory_order_release);
  held.slot_ = nullptr;  // the destructor must not write to the slot
  HandleTable::table().give_back(index_of(handle));
}

}  // namespace paddle_mini
