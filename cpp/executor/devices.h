// Devices: what kernels of one executor may ask for, on each place.
#pragma once

#include "core/communicator.h"
#include "core/machine.h"

namespace paddle_mini {

class Devices {
 public:
  // With a communicator: of one of several replicas, whose runs take place on all of them or on none.
  Devices(Machine& machine, const Place& place, std::shared_ptr<Communicator> communicator = nullptr, int rank = 0)
      : machine_(machine), place_(place), communicator_(std::move(communicator)), rank_(rank) {
    at(place);
  }

  // Made when it is first asked for. Random numbers are drawn by operators at the executor's own place, so that they
  // are the same wherever that is; elsewhere they come from a generator that begins with the same seed.
  Device& at(const Place& place);
  void seed(uint64_t seed);  // replicas draw different numbers: each begins with the seed plus its rank
  void may_touch_files(bool may);
  // How often one operator may run its block before that is an OpError; 0: as often as its data says.
  void limit_loops(int64_t max_steps) { max_loop_steps_ = max_steps; }
  int64_t max_loop_steps() const { return max_loop_steps_; }
  // Waits until no replica can refuse its data any more; DeviceError when one has.
  void agree() {
    if (communicator_) communicator_->agree(rank_);
  }
  // DeviceError when another replica has given up.
  void require_all_replicas() {
    if (communicator_) communicator_->require_all();
  }
  std::string random_state() const;
  void set_random_state(const std::string& text);  // OpError for what is none

 private:
  struct Held {
    Device device;
    std::shared_ptr<void> fault;
  };
  Machine& machine_;
  Place place_;
  std::shared_ptr<Communicator> communicator_;
  int rank_ = 0;
  uint64_t seed_ = 0;
  bool files_ = false;
  int64_t max_loop_steps_ = 0;
  std::map<Place, Held> held_;
};

}  // namespace paddle_mini
