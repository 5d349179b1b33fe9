// PlanCache: a session's plans for recently used sets of shapes.
#pragma once

#include <list>

#include "executor/infer.h"
#include "executor/plan.h"

namespace paddle_mini {

class PlanCache {
 public:
  PlanCache(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, const Placement& placement)
      : program_(std::move(program)), scope_(std::move(scope)), placement_(placement) {}

  // A plan that begins there, is made for the values that `fits` knows and for the scope as it is; nullptr when there is
  // none. `values`: Session for the caller's feeds, Blocks for those of a frame.
  enum class Values { Feeds, Frame };
  template <class Fits>
  std::shared_ptr<Plan> find(Values values, int block, int begin, const Fits& fits) {
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->values != values || it->block != block || it->plan->segment().begin != begin || !fits(*it->plan))
        continue;
      if (!it->plan->binding().fits(*scope_)) return remove(it), nullptr;
      entries_.splice(entries_.begin(), entries_, it);
      return it->plan;
    }
    return nullptr;
  }
  std::shared_ptr<Plan> make(Values values, const SegmentStart& start);
  void drop(const Plan* plan);

 private:
  struct Entry {
    Values values;
    int block;
    size_t bytes;
    std::shared_ptr<Plan> plan;  // shared with the run that uses it
  };
  void remove(std::list<Entry>::iterator entry);

  std::shared_ptr<const VerifiedProgram> program_;
  std::shared_ptr<Scope> scope_;
  Placement placement_;
  std::shared_ptr<Arenas> arenas_ = std::make_shared<Arenas>();
  std::list<Entry> entries_;  // in order of use, most recent first
  size_t bytes_ = 0;
};

}  // namespace paddle_mini
