// Takes the locks of a group and of its devices.
#include "core/replica_turns.h"

#include <set>
#include <utility>

namespace paddle_mini {

ReplicaTurns::ReplicaTurns(DeviceManager& manager, const std::vector<Place>& places) : locks_{&own_} {
  for (const Place& place : std::set<Place>(places.begin(), places.end())) {
    if (!place.is_cpu()) locks_.push_back(&manager.at(place).replicas);
  }
}

ReplicaTurns::Turn::Turn(std::shared_ptr<ReplicaTurns> turns, bool (*stop)()) : turns_(std::move(turns)) {
  for (SessionLock* lock : turns_->locks_) {
    uses_.push_back(std::make_unique<SessionLock::Use>(*lock,
                                                       "a program of these replicas, or of others on their devices,"));
    uses_.back()->begin(Access::Run, stop);
  }
}

}  // namespace paddle_mini
