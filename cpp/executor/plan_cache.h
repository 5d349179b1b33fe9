// PlanCache: a session's plans for recently used sets of shapes.
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

  // The first operator of a plan, and the source of its values: the caller's feeds or a frame.
  enum class Values { Feeds, Frame };
  struct Key {
    Values values;
    int block, begin;
    bool operator==(const Key& other) const {
      return values == other.values && block == other.block && begin == other.begin;
    }
  };
  // The plan with this key that matches `fits` and fits the scope. If there is none, creates it from the segment that
  // begins at start().
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
  // The number of threads for new plans. Returns whether it has changed; plans for another number are then dropped.
  bool use_threads(int threads);

 private:
  struct Entry {
    Key key;
    size_t bytes;
    std::shared_ptr<Plan> plan;  // shared with the run that uses it
  };
  std::shared_ptr<Plan> make(const Key& key, const SegmentStart& start);
  void remove(std::list<Entry>::iterator entry);

  std::shared_ptr<const VerifiedProgram> program_;
  std::shared_ptr<Scope> scope_;
  Placement placement_;
  std::shared_ptr<Arenas> arenas_ = std::make_shared<Arenas>();
  std::list<Entry> entries_;  // in order of use, most recent first
  size_t bytes_ = 0;
};

}  // namespace paddle_mini
