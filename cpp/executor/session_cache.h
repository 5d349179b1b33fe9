// session_cache: the sessions of one executor, for the signatures and scopes that it was given lately.
#pragma once

#include <list>
#include <mutex>

#include "executor/session.h"

namespace paddle_mini {

// Any thread may use it at any time. Sessions are shared with the runs that go on while they are dropped from here.
class SessionCache {
 public:
  explicit SessionCache(const Placement& placement) : placement_(placement) {}

  // The session of this signature in this scope. Signatures that say the same have one session.
  std::shared_ptr<Session> at(const std::shared_ptr<const Signature>& signature, const std::shared_ptr<Scope>& scope);
  std::vector<std::shared_ptr<Scope>> scopes() const;  // of all sessions; a scope may be there twice

 private:
  const Placement& placement_;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Session>> sessions_;  // in order of use, most recent first
};

}  // namespace paddle_mini
