// KernelContexts: the kernel context of one executor for each place. Work that it has begun shares them.
#pragma once

#include "core/communicator.h"
#include "core/device_manager.h"

namespace paddle_mini {

class KernelContexts : public std::enable_shared_from_this<KernelContexts> {
 public:
  // With a communicator, the executor is one of several replicas, and each run takes effect on all of them or on none.
  KernelContexts(DeviceManager& manager, const Place& place, std::shared_ptr<Communicator> communicator = nullptr,
                 int rank = 0)
      : manager_(manager), place_(place), communicator_(std::move(communicator)), rank_(rank) {
    at(place);
  }

  // Creates the context on first use. Operators at the executor's own place draw random numbers, so these are the same
  // on every place; other places use a generator that starts with the same seed.
  KernelContext& at(const Place& place);
  void seed(uint64_t seed);  // adds the rank, so replicas draw different numbers
  void may_touch_files(bool may);
  // The most threads of a kernel: `threads`, or if that is 0, the process' num_threads() at each run.
  void limit_threads(int threads) { most_threads_ = threads; }
  int threads() const { return threads_; }
  void begin_run();
  // Limits how often one operator may run its block; more is an OpError. 0: no limit.
  void limit_loops(int64_t max_steps) { max_loop_steps_ = max_steps; }
  int64_t max_loop_steps() const { return max_loop_steps_; }
  // Waits until all replicas are here: none can fail in what it has done so far. Throws DeviceError if one has failed.
  void agree() {
    if (communicator_) communicator_->barrier(rank_);
  }
  // Throws DeviceError if another replica was aborted.
  void require_all_replicas() {
    if (communicator_) communicator_->require_all();
  }
  std::string random_state() const;
  void set_random_state(const std::string& text);  // throws OpError if the text is invalid

 private:
  struct Held {
    KernelContext context;
    std::shared_ptr<void> fault;
  };
  DeviceManager& manager_;
  Place place_;
  std::shared_ptr<Communicator> communicator_;
  int rank_ = 0;
  uint64_t seed_ = 0;
  bool files_ = false;
  int64_t max_loop_steps_ = 0;
  int most_threads_ = 0, threads_ = 1;
  double least_loop_ = kLeastLoop;
  std::map<Place, Held> held_;
};

}  // namespace paddle_mini
