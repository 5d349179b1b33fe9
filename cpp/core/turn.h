// Turn: who may use a thing now, and who must wait. Uses that only read go on together; any other use goes on alone.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/error.h"

namespace paddle_mini {

// Another use, of this thread or of another, must end first. It is thrown before anything has changed.
class ScopeInUse : public OpError {
 public:
  using OpError::OpError;
};

enum class Access {
  Read,        // shared: looks at values
  ReadingRun,  // shared: a run that changes nothing
  Run,         // alone
  Change,      // alone: waits for runs as well
  Edit,        // alone: refused while a run is at work, or waits to be
};
constexpr bool is_shared(Access access) { return access == Access::Read || access == Access::ReadingRun; }
constexpr bool is_run(Access access) { return access == Access::Run || access == Access::ReadingRun; }

// Uses begin in the order in which they came, so none waits for ever. A use inside another one of the same thread never
// waits, since it would wait for its own thread: it begins at once where the outer use is not a run and allows it, and is
// refused otherwise, for example in a signal handler during a run.
class Turn {
 public:
  // One use, from begin() until end() or its destruction. Both may be called by different threads.
  class Use {
   public:
    Use(Turn& turn, const char* what) : turn_(turn), what_(what) {}
    ~Use() { end(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    bool try_begin(Access access);                            // false: it would have to wait
    void begin(Access access, bool (*stop)() = nullptr);      // no-op after begin(); Interrupted when `stop` says so
    void end();
    bool has_begun() const { return begun_; }

   private:
    friend class Turn;
    Turn& turn_;
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
  std::vector<Use*> uses_;  // begun and waiting, in the order in which they came
};

}  // namespace paddle_mini
