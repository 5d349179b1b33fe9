// profile: records when each operator of each run was executed, and on what values.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "executor/steps.h"

namespace paddle_mini {

using Clock = std::chrono::steady_clock;

struct ProfiledOp {
  std::shared_ptr<const VerifiedOp> op;
  int block = 0, index = 0;
  std::vector<std::vector<VarInfo>> inputs, outputs;  // as they were planned; for SelectedRows an upper bound
};

// One step of a plan, or one operator that runs between plans. Fused operators are one site.
struct ProfileSite {
  std::vector<ProfiledOp> ops;  // empty: saves a value for the rollback
  Place place = {};
  Lane lane = Lane::Compute;
  int64_t calls = 0;
  double microseconds = 0;  // without the operators that run inside it
};

struct ProfileEvent {
  size_t site;
  int thread;  // in the order of their first event
  int64_t run;
  double begin, duration;  // microseconds; begin since the profile was made
};

struct ProfiledRun {
  int64_t number;
  int thread;
  double begin, duration;
};

// Threads may add at the same time. Keeps the first `most` events; sites count all of them.
class Profile {
 public:
  explicit Profile(size_t most) : most_(most) {}

  // A site is recognised by `owner`, a serial number or address that no other site of this profile has, and `part`.
  using Key = std::tuple<uint64_t, uint64_t, uint64_t>;
  struct Interval {
    Clock::time_point begin, end;
    double inside = 0;  // microseconds of operators that ran inside, which are sites of their own
    int64_t run;
  };
  template <class Describe>
  void add(const Key& key, const Interval& interval, Describe describe) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto [found, is_new] = numbers_.emplace(key, sites_.size());
    if (is_new) sites_.push_back(describe());
    note(found->second, interval);
  }
  void add_run(const Interval& interval);
  int64_t next_run();

  // Copies, because runs may add more.
  std::vector<ProfileSite> sites() const;
  std::vector<ProfileEvent> events() const;
  std::vector<ProfiledRun> runs() const;
  int64_t dropped() const;  // events that were not kept

 private:
  void note(size_t site, const Interval& interval);
  int this_thread();
  double since_start(Clock::time_point at) const;

  const size_t most_;
  const Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  std::map<Key, size_t> numbers_;
  std::map<uint64_t, int> threads_;
  std::vector<ProfileSite> sites_;
  std::vector<ProfileEvent> events_;
  std::vector<ProfiledRun> runs_;
  int64_t dropped_ = 0, begun_ = 0;
};

// The site of a step.
ProfileSite site_of(const Step& step, const Segment& segment);

}  // namespace paddle_mini
