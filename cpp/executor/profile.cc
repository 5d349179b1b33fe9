// Records events.
#include "executor/profile.h"

#include <thread>

namespace paddle_mini {

double Profile::since_start(Clock::time_point at) const {
  return std::chrono::duration<double, std::micro>(at - start_).count();
}

int Profile::this_thread() {
  uint64_t id = std::hash<std::thread::id>()(std::this_thread::get_id());
  return threads_.emplace(id, static_cast<int>(threads_.size())).first->second;
}

void Profile::note(size_t site, const Interval& interval) {
  double begin = since_start(interval.begin), duration = since_start(interval.end) - begin;
  sites_[site].calls += 1;
  sites_[site].microseconds += std::max(0.0, duration - interval.inside);
  if (events_.size() < most_) events_.push_back({site, this_thread(), interval.run, begin, duration});
  else ++dropped_;
}

void Profile::add_run(const Interval& interval) {
  std::lock_guard<std::mutex> lock(mutex_);
  double begin = since_start(interval.begin);
  if (runs_.size() < most_) {
    runs_.push_back({interval.run, this_thread(), begin, since_start(interval.end) - begin});
  }
}

int64_t Profile::next_run() {
  std::lock_guard<std::mutex> lock(mutex_);
  return ++begun_;
}

std::vector<ProfileSite> Profile::sites() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return sites_;
}

std::vector<ProfileEvent> Profile::events() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return events_;
}

std::vector<ProfiledRun> Profile::runs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return runs_;
}

int64_t Profile::dropped() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return dropped_;
}

ProfileSite site_of(const Step& step, const Segment& segment) {
  ProfileSite site;
  site.place = step.place;
  site.lane = step.lane;
  for (const RunOp* op = step.first(); op != step.last(); ++op) {
    site.ops.push_back({op->op, segment.block, op->index, segment.infos(op->inputs), segment.infos(op->outputs)});
  }
  return site;
}

}  // namespace paddle_mini
