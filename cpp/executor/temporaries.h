// temporaries: where the temporaries of a segment, and the scratch memory of its kernels, lie in the arenas of a session.
#pragma once

#include "executor/memory_plan.h"
#include "executor/order.h"
#include "executor/steps.h"

namespace paddle_mini {

class Temporaries {
 public:
  // Everything referred to must outlive the result.
  Temporaries(const Segment& segment, Binding& binding, const StepList& steps, std::shared_ptr<Arenas> arenas,
              const Scope& scope);

  // Reserves the arenas and binds variables to them where they have moved, since other plans use them too; true where that
  // is so. Memory gets the pattern of PM_FILL. DeviceError names the operator that needs most.
  bool bind();

  // The bytes of a variable. Those of the scope, of the caller and of live_out have memory of their own; temporaries of a
  // place share theirs. Touch::memory is below memories().
  Touch touch(int v, bool writes) const;
  int memories() const { return static_cast<int>(segment_.variables.size() + uses_.size()); }
  size_t offset(int v) const { return offsets_[v]; }
  std::string str() const;  // "arena of 448 bytes"

 private:
  struct Allocation {  // in an arena
    Location* location;
    int variable;  // of the segment; -1: scratch memory
    Lifetime lifetime;
    size_t offset;
  };
  struct ArenaUse {  // what the segment needs of one arena
    Arena* arena = nullptr;
    size_t bytes = 0;
    char* bound = nullptr;  // where the arena was when the allocations got their addresses
    std::vector<Allocation> allocations;
  };

  std::map<Place, std::vector<Allocation>> find_allocations(const Sharing& sharing, const StepList& steps,
                                                            const std::vector<int>& ends);
  [[noreturn]] void fail_for_memory(const ArenaUse& use, const std::string& message) const;

  const Segment& segment_;
  Binding& binding_;
  const Scope& scope_;
  std::shared_ptr<Arenas> arenas_;
  std::map<Place, ArenaUse> uses_;
  std::deque<Location> scratch_locations_;
  std::vector<size_t> offsets_;  // of each variable
};

}  // namespace paddle_mini
