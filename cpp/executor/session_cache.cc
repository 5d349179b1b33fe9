// Finding and making sessions, and dropping the one that has not been used for longest.
#include "executor/session_cache.h"

#include <algorithm>

namespace paddle_mini {
namespace {

constexpr size_t kMostSessions = 64;

}  // namespace

std::shared_ptr<Session> SessionCache::at(const std::shared_ptr<const Signature>& signature,
                                          const std::shared_ptr<Scope>& scope) {
  std::shared_ptr<Session> dropped;  // ends after the lock: it may have to wait for devices
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const std::shared_ptr<Session>& session) {
    bool same = session->signature() == signature || *session->signature() == *signature;
    return same && session->scope() == scope;
  });
  if (found != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, found);
  } else {
    sessions_.push_front(std::make_shared<Session>(signature, scope, placement_));
    if (sessions_.size() > kMostSessions) {
      dropped = std::move(sessions_.back());
      sessions_.pop_back();
    }
  }
  return sessions_.front();
}

std::vector<std::shared_ptr<Scope>> SessionCache::scopes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<Scope>> scopes;
  for (const auto& session : sessions_) scopes.push_back(session->scope());
  return scopes;
}

}  // namespace paddle_mini
