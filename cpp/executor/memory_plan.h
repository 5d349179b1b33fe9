// Memory of the temporaries of a run: who shares bytes with whom, and where in one arena each lies.
#pragma once

#include <map>

#include "core/accelerator.h"
#include "executor/segment.h"

namespace paddle_mini {

// The memory of temporaries on one device, one block that all plans of a session use: only one of them runs at a time,
// and batches of many lengths have many plans.
class Arena {
 public:
  explicit Arena(Accelerator* device) : device_(device) {}
  char* data() const { return static_cast<char*>(memory_.get()); }
  Accelerator* device() const { return device_; }  // nullptr: the host
  void reserve(size_t bytes) {  // what it held is lost
    if (memory_ && bytes <= bytes_) return;
    memory_.reset();
    bytes_ = 0;
    memory_ = device_ ? device_->allocate(bytes) : allocate(bytes);
    bytes_ = bytes;
  }
  void fill(size_t bytes) const;  // with the pattern of core/fill_pattern.h, while no device is at work on it

 private:
  Accelerator* device_;
  std::shared_ptr<void> memory_;
  size_t bytes_ = 0;
};

// Those of a session, by place.
class Arenas {
 public:
  Arena& at(const Place& place, Accelerator* device) { return arenas_.try_emplace(place, device).first->second; }

 private:
  std::map<Place, Arena> arenas_;
};

// Bytes needed from step `first` to step `last`, both included.
struct Lifetime {
  int first, last;
  size_t bytes;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // of each lifetime
  size_t arena_bytes = 0;
};

// Offsets such that lifetimes that meet never overlap; memory freed last is reused first, being in cache.
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes);

// Which temporaries are one piece of memory: views, and outputs written over inputs that no operator reads
// afterwards. share[v] is the representative of v; v itself when it has memory of its own.
struct Sharing {
  std::vector<int> share;
  std::vector<Lifetime> lifetimes;  // of each representative; bytes 0 for whatever is no temporary
};
Sharing share_memory(const Segment& segment);

size_t bytes_of(const VarInfo& info);  // the most that a variable needs

}  // namespace paddle_mini
