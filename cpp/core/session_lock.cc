// Implements the FIFO order of uses.
#include "core/session_lock.h"

#include <algorithm>
#include <chrono>

namespace paddle_mini {

const SessionLock::Use* SessionLock::outer_of(std::thread::id thread) const {
  auto it = std::find_if(uses_.begin(), uses_.end(), [&](const Use* use) { return use->thread_ == thread; });
  return it == uses_.end() ? nullptr : *it;
}

bool SessionLock::used_by_this_thread() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return outer_of(std::this_thread::get_id());
}

// Throws if the use could never begin; otherwise lists it.
void SessionLock::add(Use& use, Access access) {
  uses_.reserve(uses_.size() + 1);  // nothing may throw once the use has begun
  use.access_ = access;
  use.thread_ = std::this_thread::get_id();
  if (const Use* outer = outer_of(use.thread_)) {
    bool inside = outer->begun_ && !is_run(outer->access_) && !is_run(access) &&
                  (is_shared(access) || !is_shared(outer->access_));
    require<ScopeInUse>(
        inside, use.what_,
        " is running already in this thread: functions that it calls, and signal handlers, can't use it");
    use.begun_ = true;
  } else if (access == Access::Edit) {
    bool runs = std::any_of(uses_.begin(), uses_.end(), [](const Use* other) { return is_run(other->access_); });
    require<ScopeInUse>(!runs, "the scope is in use by a run: change it before or after");
  }
  uses_.push_back(&use);
}

void SessionLock::remove(const Use& use) {
  uses_.erase(std::find(uses_.begin(), uses_.end(), &use));
  if (!uses_.empty()) ended_.notify_all();
}

// True if it can share with every use that has begun or precedes it.
bool SessionLock::may_begin(const Use& use) const {
  bool before = true;
  for (const Use* other : uses_) {
    if (other == &use) before = false;
    else if ((before || other->begun_) && !(is_shared(use.access_) && is_shared(other->access_))) return false;
  }
  return true;
}

bool SessionLock::Use::try_begin(Access access) {
  std::lock_guard<std::mutex> lock(lock_.mutex_);
  lock_.add(*this, access);
  begun_ = begun_ || lock_.may_begin(*this);
  if (!begun_) lock_.remove(*this);
  return begun_;
}

void SessionLock::Use::begin(Access access, bool (*stop)()) {
  if (begun_) return;
  std::unique_lock<std::mutex> lock(lock_.mutex_);
  lock_.add(*this, access);
  while (!begun_ && !lock_.may_begin(*this)) {
    if (!stop) {
      lock_.ended_.wait(lock);
      continue;
    }
    bool in_time = lock_.ended_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::no_timeout;
    if (in_time) continue;
    lock.unlock();  // stop() may take arbitrarily long, because it runs other threads
    bool stopped = stop();
    lock.lock();
    if (stopped) {
      lock_.remove(*this);
      throw Interrupted("stopped");
    }
  }
  begun_ = true;
}

void SessionLock::Use::end() {
  if (!begun_) return;
  std::lock_guard<std::mutex> lock(lock_.mutex_);
  begun_ = false;
  lock_.remove(*this);
}

}  // namespace paddle_mini
