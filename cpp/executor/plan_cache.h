// PlanCache: a session's plans for recently used sets of shapes.
#pragma once

#include <list>
#include <unordered_map>

#include "executor/infer.h"
#include "executor/plan.h"

namespace paddle_mini {

class PlanCache {
 public:
  PlanCache(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, const Placement& placement)
      : program_(std::move(program)), scope_(std::move(scope)), placement_(placement) {}

  // The first operator of a plan, the source of its values, which is the caller's feeds or a frame, and a hash of the
  // feeds' shapes: a program that cycles through a thousand lengths finds each plan without a look at the others.
  enum class Values { Feeds, Frame };
  struct Key {
    Values values;
    int block, begin;
    size_t shapes;
    bool operator==(const Key& other) const {
      return values == other.values && block == other.block && begin == other.begin && shapes == other.shapes;
    }
  };
  static size_t hash_of_shapes(const std::vector<Tensor>& feeds);
  // The plan with this key that matches `fits` and fits the scope. If there is none, creates it from the segment that
  // begins at start().
  template <class Fits, class Start>
  std::shared_ptr<Plan> find_or_make(const Key& key, const Fits& fits, const Start& start) {
    auto [first, last] = places_.equal_range(key);
    for (; first != last; ++first) {
      auto entry = first->second;
      if (!fits(*entry->plan)) continue;
      if (!entry->plan->binding().fits(*scope_)) {
        remove(entry);
        break;
      }
      entries_.splice(entries_.begin(), entries_, entry);
      return entry->plan;
    }
    return make(key, start());
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
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  std::shared_ptr<Plan> make(const Key& key, const SegmentStart& start);
  void remove(std::list<Entry>::iterator entry);

  std::shared_ptr<const VerifiedProgram> program_;
  std::shared_ptr<Scope> scope_;
  Placement placement_;
  std::shared_ptr<Arenas> arenas_ = std::make_shared<Arenas>();
  std::list<Entry> entries_;  // in order of use, most recent first
  std::unordered_multimap<Key, std::list<Entry>::iterator, Hash> places_;
  size_t bytes_ = 0;
};

}  // namespace paddle_mini
