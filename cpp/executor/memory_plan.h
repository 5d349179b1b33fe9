// memory_plan: aliasing of temporaries and their offsets in an arena.
#pragma once

#include <map>

#include "core/device.h"
#include "executor/segment.h"

namespace paddle_mini {

// The memory of temporaries on one device: one block that all plans of a session share, since only one of them runs at
// a time, and batches of many lengths need many plans.
class Arena {
 public:
  explicit Arena(Device* device) : device_(device) {}
  char* data() const { return static_cast<char*>(memory_.get()); }
  Device* device() const { return device_; }  // nullptr: the host
  void reserve(size_t bytes) {  // discards the content if it grows
    if (memory_ && bytes <= bytes_) return;
    memory_.reset();
    bytes_ = 0;
    memory_ = device_ ? device_->allocate(bytes) : allocate(bytes);
    bytes_ = bytes;
  }
  void fill(size_t bytes) const;  // fills with the pattern of core/fill_pattern.h; no device may be using the memory

 private:
  Device* device_;
  std::shared_ptr<void> memory_;
  size_t bytes_ = 0;
};

// The arenas of a session by place.
class Arenas {
 public:
  Arena& at(const Place& place, Device* device) { return arenas_.try_emplace(place, device).first->second; }

 private:
  std::map<Place, Arena> arenas_;
};

// Bytes needed from step `first` to step `last`, both inclusive.
struct Lifetime {
  int first, last;
  size_t bytes;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // one per lifetime
  size_t arena_bytes = 0;
};

// Assigns offsets such that overlapping lifetimes never share bytes; reuses the most recently freed memory first,
// because it is in cache.
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes);

// Aliasing of temporaries: views, and outputs that overwrite inputs which are not read afterwards. share[v] is the
// representative of v, or v itself if it has its own memory.
struct AliasPlan {
  std::vector<int> share;
  std::vector<Lifetime> lifetimes;  // for the representatives; 0 bytes for variables that are not temporaries
};
AliasPlan plan_aliases(const Segment& segment);

size_t bytes_of(const VarInfo& info);  // upper bound of a variable's memory

}  // namespace paddle_mini
