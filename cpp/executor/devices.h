// Devices: what kernels of one executor may ask for, on each place.
#pragma once

#include "core/machine.h"

namespace paddle_mini {

class Devices {
 public:
  Devices(Machine& machine, const Place& place) : machine_(machine), place_(place) { at(place); }

  // Made when it is first asked for. Random numbers are drawn by operators at the executor's own place, so that they
  // are the same wherever that is; elsewhere they come from a generator that begins with the same seed.
  Device& at(const Place& place);
  Device& main() { return at(place_); }
  void seed(uint64_t seed);
  void may_touch_files(bool may);
  std::string random_state() const;
  void set_random_state(const std::string& text);  // OpError for what is none

 private:
  struct Held {
    Device device;
    std::shared_ptr<void> fault;
  };
  Machine& machine_;
  Place place_;
  uint64_t seed_ = 0;
  bool files_ = false;
  std::map<Place, Held> held_;
};

}  // namespace paddle_mini
