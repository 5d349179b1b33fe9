// session_cache: the sessions of one executor, for the signatures and scopes that it was given lately.
#pragma once

#include <list>
#include <mutex>

#include "executor/session.h"

namespace paddle_mini {

// Any thread may use it at any time. Runs share ownership of their sessions, which may be evicted meanwhile.
class SessionCache {
 public:
  explicit SessionCache(const Placement& placement) : placement_(placement) {}

  // The session of this signature in this scope. Equal signatures have one session.
  std::shared_ptr<Session> at(const std::shared_ptr<const Signature>& signature, const std::shared_ptr<Scope>& scope);
  std::vector<std::shared_ptr<Scope>> scopes() const;  // the scopes of all sessions; may contain duplicates

 private:
  const Placement& placement_;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Session>> sessions_;  // in order of use, most recent first
};

}  // namespace paddle_mini
