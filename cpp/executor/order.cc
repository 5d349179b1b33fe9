// order: computes cross-queue dependencies. Simulates two consecutive runs; the waits of the second one are the result.
#include "executor/order.h"

#include <algorithm>
#include <map>

namespace paddle_mini {
namespace {

// The last accesses to some bytes. Step numbers of the second run continue after those of the first.
struct LastAccess {
  int writer = -1;
  std::vector<int> readers;  // since the last write
};

// An interval map of one memory: each entry extends to the next key.
class IntervalMap {
 public:
  template <class F>
  void each(size_t begin, size_t end, F f) {
    cut(begin);
    cut(end);
    for (auto it = pieces_.lower_bound(begin); it != pieces_.end() && it->first < end; ++it) f(it->second);
  }

 private:
  void cut(size_t at) {
    auto after = pieces_.upper_bound(at);
    LastAccess before = after == pieces_.begin() ? LastAccess{} : std::prev(after)->second;
    pieces_.emplace(at, std::move(before));
  }
  std::map<size_t, LastAccess> pieces_;
};

class HazardAnalysis {
 public:
  HazardAnalysis(const std::vector<OrderedStep>& steps, int queues)
      : steps_(steps), count_(static_cast<int>(steps.size())), known_(queues, std::vector<int>(queues, -1)),
        waits_(steps.size()), known_at_(steps.size()) {}

  std::vector<std::vector<int>> run() {
    for (int i = 0; i < count_; ++i) note(i, i);
    for (int i = 0; i < count_; ++i) {
      for (int other : before(i)) wait(i, other);
      note(i, count_ + i);
      known_[steps_[i].queue][steps_[i].queue] = count_ + i;
      known_at_[i] = known_[steps_[i].queue];
    }
    return std::move(waits_);
  }

 private:
  // The last steps of other queues that must precede step i of the second run, in descending order.
  std::vector<int> before(int i) {
    std::vector<int> found;
    auto add = [&](int other) {
      if (other >= 0 && steps_[other % count_].queue != steps_[i].queue) found.push_back(other);
    };
    for (const MemoryAccess& access : steps_[i].accesses) {
      memories_[access.memory].each(access.begin, access.end, [&](LastAccess& last) {
        add(last.writer);
        if (access.writes)
          for (int reader : last.readers) add(reader);
      });
    }
    std::sort(found.rbegin(), found.rend());
    return found;
  }

  void note(int i, int number) {
    for (const MemoryAccess& access : steps_[i].accesses) {
      memories_[access.memory].each(access.begin, access.end, [&](LastAccess& last) {
        if (access.writes) {
          last.writer = number;
          last.readers.clear();
          return;
        }
        auto same_queue = [&](int reader) { return steps_[reader % count_].queue == steps_[i].queue; };
        last.readers.erase(std::remove_if(last.readers.begin(), last.readers.end(), same_queue), last.readers.end());
        last.readers.push_back(number);
      });
    }
  }

  void wait(int i, int other) {
    int queue = steps_[i].queue, there = steps_[other % count_].queue;
    if (known_[queue][there] >= other) return;
    waits_[i].push_back(other % count_);
    known_[queue][there] = other;
    if (other < count_) return;  // steps of the first run get no dependencies
    const std::vector<int>& more = known_at_[other - count_];
    for (size_t q = 0; q < more.size(); ++q) known_[queue][q] = std::max(known_[queue][q], more[q]);
  }

  const std::vector<OrderedStep>& steps_;
  int count_;
  std::map<int, IntervalMap> memories_;
  std::vector<std::vector<int>> known_;  // [queue][other]: the last step of `other` that is known to be done
  std::vector<std::vector<int>> waits_;
  std::vector<std::vector<int>> known_at_;  // known_ of the step's queue after each step of the second run
};

}  // namespace

std::vector<std::vector<int>> find_waits(const std::vector<OrderedStep>& steps, int queues) {
  return HazardAnalysis(steps, queues).run();
}

}  // namespace paddle_mini
