// SessionLock: a read-write lock that serves its users in FIFO order. Uses that only read are shared; any other use is exclusive.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

// Another use, of this or another thread, must end first. It is thrown before anything is changed.
class ScopeInUse : public OpError {
 public:
  using OpError::OpError;
};

enum class Access {
  Read,  // shared: reads values
  ReadingRun,  // shared: a run that changes nothing
  Run,  // exclusive
  Change,  // exclusive: waits for runs as well
  Edit,  // exclusive: throws while a run executes or waits
};
constexpr bool is_shared(Access access) { return access == Access::Read || access == Access::ReadingRun; }
constexpr bool is_run(Access access) { return access == Access::Run || access == Access::ReadingRun; }

// Uses begin in FIFO order, so none starves. A use nested in another one of the same thread never waits, since it would
// deadlock: it begins at once if the outer use is not a run and allows it, and throws otherwise, for example in a
// signal handler during a run.
class SessionLock {
 public:
  // One use, from begin() until end() or its destruction. Different threads may call the two.
  class Use {
   public:
    Use(SessionLock& lock, const char* what) : lock_(lock), what_(what) {}
    ~Use() { end(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    bool try_begin(Access access);  // false: begin() would block
    void begin(Access access, bool (*stop)() = nullptr);  // no-op after begin(); Interrupted if `stop` is true
    void end();
    bool has_begun() const { return begun_; }

   private:
    friend class SessionLock;
    SessionLock& lock_;
    const char* what_;  // "a program in this scope"
    std::thread::id thread_;
    Access access_ = Access::Read;
    bool begun_ = false;
  };

  bool used_by_this_thread() const;

 private:
  bool may_begin(const Use& use) const;
  const Use* outer_of(std::thread::id thread) const;
  void add(Use& use, Access access);
  void remove(const Use& use);

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Use*> uses_;  // begun and waiting, in FIFO order
};

}  // namespace paddle_mini
