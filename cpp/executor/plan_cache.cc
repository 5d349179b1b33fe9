// Creates plans, and evicts the least recently used ones.
#include "executor/plan_cache.h"

#include <algorithm>
#include <iostream>

namespace paddle_mini {
namespace {

// Several hundred plans of a program with a hundred operators. Backup copies of a plan may be large, so a few plans
// stay regardless of size.
constexpr size_t kBudget = size_t{128} << 20, kFewest = 16;

size_t mixed(size_t hash, size_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 32); }

}  // namespace

size_t PlanCache::hash_of_shapes(const std::vector<Tensor>& feeds) {
  size_t hash = feeds.size();
  for (const Tensor& feed : feeds) {
    hash = mixed(hash, static_cast<size_t>(feed.dtype));
    for (int64_t size : feed.shape) hash = mixed(hash, static_cast<size_t>(size));
    for (const auto& level : feed.lod) {
      for (auto offset : level) hash = mixed(hash, static_cast<size_t>(offset));
    }
  }
  return hash;
}

size_t PlanCache::Hash::operator()(const Key& key) const {
  return mixed(mixed(mixed(key.shapes, static_cast<size_t>(key.block)), static_cast<size_t>(key.begin)),
               static_cast<size_t>(key.values));
}

std::shared_ptr<Plan> PlanCache::make(const Key& key, const SegmentStart& start) {
  Segment segment = infer(program_, start, *scope_);
  if (logs("infer")) std::cerr << segment.str();
  auto plan = std::make_shared<Plan>(run_passes(std::move(segment), placement_), placement_, *scope_, arenas_);
  if (logs("plan")) std::cerr << plan->str();
  entries_.push_front({key, plan->own_bytes(), plan});
  places_.emplace(key, entries_.begin());
  bytes_ += entries_.front().bytes;
  while (bytes_ > kBudget && entries_.size() > kFewest) remove(std::prev(entries_.end()));
  return plan;
}

void PlanCache::drop(const Plan* plan) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.plan.get() == plan; });
  if (entry != entries_.end()) remove(entry);
}

bool PlanCache::use_threads(int threads) {
  if (threads == placement_.threads) return false;
  placement_.threads = threads;
  while (!entries_.empty()) remove(entries_.begin());
  return true;
}

void PlanCache::remove(std::list<Entry>::iterator entry) {
  bytes_ -= entry->bytes;
  auto [first, last] = places_.equal_range(entry->key);
  while (first != last && first->second != entry) ++first;
  if (first != last) places_.erase(first);
  entries_.erase(entry);
}

}  // namespace paddle_mini
