// ReplicaTurns: gives the runs of a group of replicas the devices that they need, one run at a time.
//
// A device runs its work in one order, and a sum of replicas ends when all of them have reached it: two groups whose sums
// two devices have in different orders would wait for each other.
#pragma once

#include <memory>
#include <vector>

#include "core/device_manager.h"

namespace paddle_mini {

class ReplicaTurns {
 public:
  // Opens the devices; throws DeviceError if one does not exist. Replicas on CPUs share nothing.
  ReplicaTurns(DeviceManager& manager, const std::vector<Place>& places);

  // While it lives, no other thread has a turn of this group or with one of its devices.
  class Turn {
   public:
    // Waits. Throws ScopeInUse where this thread has such a turn already, Interrupted if `stop` requests it.
    explicit Turn(std::shared_ptr<ReplicaTurns> turns, bool (*stop)() = nullptr);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void end() { uses_.clear(); }

   private:
    std::shared_ptr<ReplicaTurns> turns_;
    std::vector<std::unique_ptr<SessionLock::Use>> uses_;
  };

 private:
  SessionLock own_;
  std::vector<SessionLock*> locks_;  // in one order for all groups, so that turns can't wait for each other
};

}  // namespace paddle_mini
