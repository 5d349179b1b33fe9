// temporaries: places the temporaries of a segment and the scratch memory of its kernels in the arenas of a session.
#pragma once

#include "executor/memory_plan.h"
#include "executor/order.h"
#include "executor/steps.h"

namespace paddle_mini {

class Temporaries {
 public:
  // All referenced objects must outlive this one.
  Temporaries(const Segment& segment, Binding& binding, const StepList& steps, std::shared_ptr<Arenas> arenas,
              const Scope& scope);

  // Reserves the arenas, and rebinds variables if an arena has moved, since other plans use them too; then returns
  // true. Fills the memory with the pattern of PM_FILL. Throws DeviceError with the operator that needs the most
  // memory.
  bool bind();

  // The memory of a variable. Variables of the scope, of the caller and of live_out have their own memory; temporaries
  // of a place share an arena. MemoryAccess::memory is less than memories().
  MemoryAccess access(int v, bool writes) const;
  int memories() const { return static_cast<int>(segment_.variables.size() + uses_.size()); }
  size_t offset(int v) const { return offsets_[v]; }
  std::string str() const;  // "arena of 448 bytes"

 private:
  struct Allocation {  // a range of an arena
    Location* location;
    int variable;  // index in the segment; -1: scratch memory
    Lifetime lifetime;
    size_t offset;
  };
  struct ArenaUse {  // the segment's requirement of one arena
    Arena* arena = nullptr;
    size_t bytes = 0;
    char* bound = nullptr;  // address of the arena when the allocations were bound
    std::vector<Allocation> allocations;
  };

  std::map<Place, std::vector<Allocation>> find_allocations(const AliasPlan& aliases, const StepList& steps,
                                                            const std::vector<int>& ends);
  [[noreturn]] void fail_for_memory(const ArenaUse& use, const std::string& message) const;

  const Segment& segment_;
  Binding& binding_;
  const Scope& scope_;
  std::shared_ptr<Arenas> arenas_;
  std::map<Place, ArenaUse> uses_;
  std::deque<Location> scratch_locations_;
  std::vector<size_t> offsets_;  // one per variable
};

}  // namespace paddle_mini
