// claim: handles for substituting the values of a scope's names, such as averages for parameters. Each function acquires the
// access to the scope that it needs, so every interface has the same rules.
#pragma once

#include "core/scope.h"

namespace paddle_mini {

// While it exists, the claimed names have substituted values.
class SwappedValues {
 public:
  using Stop = bool (*)();  // polled while a step waits for the lock; true ends the wait with Interrupted

  SwappedValues(std::shared_ptr<Scope> scope, uint64_t claim, bool need_restore)
      : scope_(std::move(scope)), claim_(claim), need_restore_(need_restore) {}
  ~SwappedValues();  // does not wait: the next use of the scope gives the names their own values back
  SwappedValues(const SwappedValues&) = delete;
  SwappedValues& operator=(const SwappedValues&) = delete;

  void enter(Stop stop = nullptr) const;  // OpError if the names have their own values again
  // Restores the names' own values. Inside a run of this thread, as in a signal handler, the next use of the scope does
  // this.
  void restore(Stop stop = nullptr);
  void exit(Stop stop = nullptr);  // restore() if need_restore

 private:
  std::shared_ptr<Scope> scope_;
  uint64_t claim_;
  bool need_restore_;
};

// A claim while it is prepared: no other thread can claim these names or change them. It ends with exit(), unless apply()
// has made it a SwappedValues. Each `by` may be given values meanwhile.
class Claim {
 public:
  using Stop = SwappedValues::Stop;

  // Throws ScopeInUse if one of the names is already claimed.
  Claim(std::shared_ptr<Scope> scope, std::vector<Scope::Exchange> names, Stop stop = nullptr);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Gives each name the value of `by` until the SwappedValues object ends; its own value is kept.
  std::unique_ptr<SwappedValues> apply(bool need_restore, Stop stop = nullptr);
  void exit(Stop stop = nullptr);

 private:
  std::shared_ptr<Scope> scope_;
  uint64_t claim_ = 0;
  bool handed_on_ = false;
};

}  // namespace paddle_mini
