// Implements the kernel contexts of an executor and their random-number generators.
#include "executor/devices.h"

#include <sstream>

namespace paddle_mini {

Device& Devices::at(const Place& place) {
  auto found = held_.find(place);
  if (found != held_.end()) return found->second.device;
  Held held;
  held.device.place = place;
  held.device.generator.seed(seed_);
  held.device.may_touch_files = files_;
  held.device.communicator = communicator_.get();
  held.device.rank = rank_;
  if (!place.is_cpu()) {
    Accelerator& accelerator = *machine_.at(place).device;
    held.device.stream = accelerator.stream();
    if (place.kind == DeviceKind::Gpu) {
      held.fault = accelerator.allocate(sizeof(Fault));
      held.device.fault = static_cast<Fault*>(held.fault.get());
      Fault none;
      accelerator.to_device(held.device.fault, &none, sizeof none);
    }
  }
  return held_.emplace(place, std::move(held)).first->second.device;
}

void Devices::seed(uint64_t seed) {
  seed_ = seed + static_cast<uint64_t>(rank_);
  for (auto& [place, held] : held_) held.device.generator.seed(seed_);
}

void Devices::may_touch_files(bool may) {
  files_ = may;
  for (auto& [place, held] : held_) held.device.may_touch_files = may;
}

std::string Devices::random_state() const {
  std::ostringstream state;
  state << held_.at(place_).device.generator;
  for (const auto& [place, held] : held_) {
    if (place != place_) state << ' ' << name_of(place) << ' ' << held.device.generator;
  }
  return state.str();
}

void Devices::set_random_state(const std::string& text) {
  std::istringstream state(text);
  std::map<Place, std::mt19937_64> generators;
  state >> generators[place_];
  require<OpError>(!state.fail(), "not a valid random-generator state: ", printable(text, 60));
  for (std::string name; state >> name;) {
    state >> generators[parse_place(name)];
    require<OpError>(!state.fail(), "not a valid random-generator state: ", printable(text, 60));
  }
  for (auto& [place, generator] : generators) at(place).generator = generator;
}

}  // namespace paddle_mini
