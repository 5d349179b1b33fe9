// Implements the kernel contexts of an executor and their random-number generators.
#include "executor/kernel_contexts.h"

#include <sstream>

#include "core/cpu_count.h"
#include "core/parallel.h"
#include "core/throwing_stream.h"

namespace paddle_mini {

KernelContext& KernelContexts::at(const Place& place) {
  auto found = held_.find(place);
  if (found != held_.end()) return found->second.context;
  Held held;
  held.context.place = place;
  held.context.generator.seed(seed_);
  held.context.may_touch_files = files_;
  held.context.communicator = communicator_.get();
  held.context.rank = rank_;
  held.context.threads = threads_;
  held.context.least_loop = least_loop_;
  if (!place.is_cpu()) {
    Device& device = *manager_.at(place).device;
    held.context.stream = device.stream();
    if (place.kind == DeviceKind::Gpu) {
      // In the host's memory, which kernels write where they find an error: a run reads it without a transfer.
      held.fault = device.allocate_staging(sizeof(Fault));
      held.context.fault = new (held.fault.get()) Fault;
    }
  }
  return held_.emplace(place, std::move(held)).first->second.context;
}

void KernelContexts::seed(uint64_t seed) {
  seed_ = seed + static_cast<uint64_t>(rank_);
  for (auto& [place, held] : held_) held.context.generator.seed(seed_);
}

void KernelContexts::begin_run() {
  int threads = most_threads_ ? most_threads_ : num_threads();
  double least = least_loop();
  if (threads == threads_ && least == least_loop_) return;
  threads_ = threads;
  least_loop_ = least;
  for (auto& [place, held] : held_) held.context.threads = threads, held.context.least_loop = least;
}

void KernelContexts::may_touch_files(bool may) {
  files_ = may;
  for (auto& [place, held] : held_) held.context.may_touch_files = may;
}

std::string KernelContexts::random_state() const {
  Throwing<std::ostringstream> state;
  state << held_.at(place_).context.generator;
  for (const auto& [place, held] : held_) {
    if (place != place_) state << ' ' << name_of(place) << ' ' << held.context.generator;
  }
  return state.str();
}

void KernelContexts::set_random_state(const std::string& text) {
  Throwing<std::istringstream> state(text);
  std::map<Place, std::mt19937_64> generators;
  state >> generators[place_];
  require<OpError>(!state.fail(), "not a valid random-generator state: ", printable(text, 60));
  for (std::string name; state >> name;) {
    state >> generators[parse_place(name)];
    require<OpError>(!state.fail(), "not a valid random-generator state: ", printable(text, 60));
  }
  for (const auto& [place, generator] : generators) at(place);  // throws before anything is changed
  for (const auto& [place, generator] : generators) at(place).generator = generator;
}

}  // namespace paddle_mini
