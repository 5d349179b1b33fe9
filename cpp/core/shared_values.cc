// Counts readers by weak references.
#include "core/shared_values.h"

namespace paddle_mini {

std::shared_ptr<const void> SharedValues::share(const Tensor& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  forget_dropped();
  std::weak_ptr<const void>& known = held_[value.data];
  std::shared_ptr<const void> reference = known.lock();
  if (!reference) {
    auto owner = std::make_shared<std::shared_ptr<void>>(value.memory);
    reference = std::shared_ptr<const void>(owner, value.data);
    known = reference;
  }
  any_ = true;
  return reference;
}

bool SharedValues::has(const Tensor& value) {
  if (!any_) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  auto known = held_.find(value.data);
  bool held = known != held_.end() && !known->second.expired();
  std::atomic_thread_fence(std::memory_order_acquire);  // expired() does not order what a reader did before it dropped
  return held;
}

bool SharedValues::empty() {
  if (!any_) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  forget_dropped();
  return held_.empty();
}

void SharedValues::forget_dropped() {
  for (auto it = held_.begin(); it != held_.end();) it = it->second.expired() ? held_.erase(it) : std::next(it);
  any_ = !held_.empty();
  std::atomic_thread_fence(std::memory_order_acquire);  // as in has()
}

}  // namespace paddle_mini
