// PlanCache: the plans of one session, for every set of shapes that it has met lately.
#pragma once

#include <algorithm>
#include <list>

#include "executor/infer.h"
#include "executor/plan.h"

namespace paddle_mini {

class PlanCache {
 public:
  PlanCache(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, const Placement& placement)
      : program_(std::move(program)), scope_(std::move(scope)), placement_(placement) {}

  // Where a plan begins and whose values it was made for: the caller's feeds, or those of a frame.
  enum class Values { Feeds, Frame };
  struct Key {
    Values values;
    int block, begin;
    bool operator==(const Key& other) const {
      return values == other.values && block == other.block && begin == other.begin;
    }
  };
  // The plan with this key for the values that `fits` knows and for the scope as it is. Where there is none, one is made
  // of the segment that begins at start().
  template <class Fits, class Start>
  std::shared_ptr<Plan> find_or_make(const Key& key, const Fits& fits, const Start& start) {
    auto same = [&](const Entry& entry) { return entry.key == key && fits(*entry.plan); };
    auto found = std::find_if(entries_.begin(), entries_.end(), same);
    if (found == entries_.end()) return make(key, start());
    if (!found->plan->binding().fits(*scope_)) {
      remove(found);
      return make(key, start());
    }
    entries_.splice(entries_.begin(), entries_, found);
    return found->plan;
  }
  void drop(const Plan* plan);

 private:
  struct Entry {
    Key key;
    size_t bytes;
    std::shared_ptr<Plan> plan;  // shared with the run that it is used by
  };
  std::shared_ptr<Plan> make(const Key& key, const SegmentStart& start);
  void remove(std::list<Entry>::iterator entry);

  std::shared_ptr<const VerifiedProgram> program_;
  std::shared_ptr<Scope> scope_;
  Placement placement_;
  std::shared_ptr<Arenas> arenas_ = std::make_shared<Arenas>();
  std::list<Entry> entries_;  // the most recently used first
  size_t bytes_ = 0;
};

}  // namespace paddle_mini
