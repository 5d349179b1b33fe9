// Machine: what there is to run on: the processor's kernels, a queue for it, and accelerators, opened when asked for.
#pragma once

#include "core/emulated_device.h"
#include "core/kernel_library.h"

namespace paddle_mini {

// An accelerator and its two directions of transfers, each in order.
struct DeviceQueues {
  std::shared_ptr<Accelerator> device;
  ThreadQueue to_host, to_device;
};

class Machine {
 public:
  Machine() : kernels_(load_kernel_library()) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const KernelLibrary& kernels() const { return kernels_; }
  const OpTable& operators() const { return kernels_.operators; }
  // For operators on the processor of programs that run on several devices. Each executor has one of its own: replicas
  // that wait for each other must not stand in one queue.
  std::shared_ptr<ThreadQueue> new_host_queue();
  // DeviceError when there is no such device, saying why. Any index of the emulated kind is there.
  DeviceQueues& at(const Place& place);
  // How replicas on these places add up without the host, by rank; nullptr where they can't.
  std::unique_ptr<ReplicaSums> sums_among(const std::vector<Place>& places);
  void emulate(int index, const Emulation& emulation);

  // What is known of GPUs, for people: versions, or why there are none.
  std::string gpu_text();
  int gpu_count();

 private:
  AcceleratorLibrary* gpu_library();
  std::shared_ptr<Accelerator> open(const Place& place);

  KernelLibrary kernels_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<ThreadQueue>> host_queues_;
  Emulation emulation_;  // the last one that was set: its pauses are the host's too
  std::map<Place, std::unique_ptr<DeviceQueues>> devices_;
  bool looked_for_gpus_ = false;
  AcceleratorLibrary* gpus_ = nullptr;
  std::string gpu_trouble_;
};

}  // namespace paddle_mini
