// claim: handles of what a scope's names are claimed for, such as averages in the place of parameters. Each step takes the
// use of the scope that it needs, so every interface has the same rules.
#pragma once

#include "core/scope.h"

namespace paddle_mini {

// Names stand for other values until this ends.
class Applied {
 public:
  using Stop = bool (*)();  // polled while a step waits for the lock; true ends the wait with Interrupted

  Applied(std::shared_ptr<Scope> scope, uint64_t claim, bool need_restore)
      : scope_(std::move(scope)), claim_(claim), need_restore_(need_restore) {}
  ~Applied();  // does not wait: the next use of the scope gives the names their own values back
  Applied(const Applied&) = delete;
  Applied& operator=(const Applied&) = delete;

  // The names stand for their own values again. Inside a run of this thread, as in a signal handler, that is left to the
  // next use of the scope.
  void restore(Stop stop = nullptr);
  void exit(Stop stop = nullptr);  // restore(), where it needs that

 private:
  std::shared_ptr<Scope> scope_;
  uint64_t claim_;
  bool need_restore_;
};

// A claim while it is prepared: no other thread can claim these names or change them. It ends with exit(), unless apply()
// has made it an Applied. Each `by` may be given values meanwhile.
class Claim {
 public:
  using Stop = Applied::Stop;

  // ScopeInUse where one of the names is claimed already.
  Claim(std::shared_ptr<Scope> scope, std::vector<Scope::Exchange> names, Stop stop = nullptr);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Each name stands for what `by` stood for, and its own value is kept, until the Applied ends.
  std::unique_ptr<Applied> apply(bool need_restore, Stop stop = nullptr);
  void exit(Stop stop = nullptr);

 private:
  std::shared_ptr<Scope> scope_;
  uint64_t claim_ = 0;
  bool handed_on_ = false;
};

}  // namespace paddle_mini
