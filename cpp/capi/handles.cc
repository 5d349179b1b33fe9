// A slot of the table is one word: a generation, incremented for each object in it; whether the handle is valid; and the
// number of calls that use the object. One compare-and-swap enters a call. The last user of a released object ends it.
#include "capi/handles.h"

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

namespace paddle_mini::capi {

// Each slot has its own cache line, so threads with different objects do not share one.
struct alignas(64) Slot {
  static constexpr uint64_t kUsers = 0xffff, kValid = 0x10000;
  static constexpr int kGenerationBit = 17;

  std::atomic<uint64_t> word{0};
  std::unique_ptr<Object> object;
  uint32_t index = 0;
};

namespace {

constexpr int kIndexBits = 20, kChunkBits = 8;
constexpr uint64_t kSlots = uint64_t{1} << kIndexBits, kChunk = uint64_t{1} << kChunkBits;
constexpr uint64_t kGenerations = uint64_t{1} << (64 - kIndexBits);

// Lives as long as the process: slots are reused and never freed.
class Table {
 public:
  static Table& of_process() {
    static Table& once = *new Table;
    return once;
  }

  Slot* at(uint64_t index) {
    Slot* chunk = chunks_[index >> kChunkBits].load(std::memory_order_acquire);
    return chunk ? chunk + (index & (kChunk - 1)) : nullptr;
  }

  Slot& take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) {
      require<DeviceError>(made_ < kSlots, "there are ", made_, " handles already");
      if (!at(made_)) {
        free_.reserve(made_ + kChunk);  // so that give_back() never allocates
        chunks_[made_ >> kChunkBits].store(new Slot[kChunk], std::memory_order_release);
      }
      Slot& slot = *at(made_);
      slot.index = static_cast<uint32_t>(made_++);
      ++used_;
      return slot;
    }
    Slot& slot = *at(free_.back());
    free_.pop_back();
    ++used_;
    return slot;
  }
  void give_back(uint32_t index) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(index);
    --used_;
  }
  size_t used() {
    std::lock_guard<std::mutex> lock(mutex_);
    return used_;
  }

 private:
  // fork() must not copy a locked mutex into the child.
  Table() {
    pthread_atfork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
                   [] { of_process().mutex_.unlock(); });
  }

  std::atomic<Slot*> chunks_[kSlots >> kChunkBits] = {};
  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint64_t made_ = 0;
  size_t used_ = 0;
};

uint64_t index_of(uint64_t handle) { return handle & (kSlots - 1); }
uint64_t generation_of(uint64_t handle) { return handle >> kIndexBits; }

bool names(uint64_t handle, uint64_t word) {
  return (word & Slot::kValid) && word >> Slot::kGenerationBit == generation_of(handle);
}

// Called by the thread that has made the word one without users and without a valid handle.
void end(Slot& slot) {
  std::unique_ptr<Object> object = std::move(slot.object);
  object.reset();  // before the slot is free: another thread may then fill it
  Table::of_process().give_back(slot.index);
}

void leave(Slot& slot) {
  uint64_t before = slot.word.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & (Slot::kUsers | Slot::kValid)) == 1) end(slot);
}

Slot& enter(uint64_t handle) {
  Slot* slot = Table::of_process().at(index_of(handle));
  uint64_t word = slot ? slot->word.load(std::memory_order_acquire) : 0;
  do {
    require<ArgumentError>(handle != 0, "the handle is 0");
    bool made = slot && generation_of(handle) && generation_of(handle) <= word >> Slot::kGenerationBit;
    require<ArgumentError>(made, "this is not a handle");
    require<ArgumentError>(names(handle, word), "this handle was released");
    require<DeviceError>((word & Slot::kUsers) < Slot::kUsers, "too many calls use one handle");
  } while (!slot->word.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  return *slot;
}

}  // namespace

Held::Held(uint64_t handle, const char* kind) : slot_(&enter(handle)) {
  const char* found = slot_->object->kind();
  if (std::strcmp(found, kind) == 0) return;
  leave(*slot_);  // a constructor that throws has no destructor; the kind is a constant of the program
  fail<ArgumentError>("the handle is of a ", found, ", expected a ", kind);
}

Held::~Held() { leave(*slot_); }

Object& Held::object() const { return *slot_->object; }

uint64_t add_handle(std::unique_ptr<Object> object) {
  Slot& slot = Table::of_process().take();
  uint64_t generation = (slot.word.load(std::memory_order_relaxed) >> Slot::kGenerationBit) + 1;
  if (generation == kGenerations) generation = 1;
  slot.object = std::move(object);
  slot.word.store(generation << Slot::kGenerationBit | Slot::kValid, std::memory_order_release);
  return generation << kIndexBits | slot.index;
}

void release_handle(uint64_t handle) {
  Slot& slot = enter(handle);
  uint64_t before = slot.word.fetch_and(~Slot::kValid, std::memory_order_acq_rel);
  leave(slot);
  require<ArgumentError>(before & Slot::kValid, "this handle was released");
}

size_t handle_count() { return Table::of_process().used(); }

}  // namespace paddle_mini::capi
