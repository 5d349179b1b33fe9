// DeviceManager: the runtime of a process: CPU kernels, host queues, and devices, which are opened on first use.
#pragma once

#include "core/emulated_device.h"
#include "core/kernel_library.h"
#include "core/operator_library.h"
#include "core/session_lock.h"

namespace paddle_mini {

// A device and one queue for each direction of transfers. replicas: used by one group of replicas at a time.
struct DeviceQueues {
  std::shared_ptr<Device> device;
  ThreadQueue to_host, to_device;
  SessionLock replicas;
};

class DeviceManager {
 public:
  DeviceManager() : kernels_(load_kernel_library()) {}
  DeviceManager(const DeviceManager&) = delete;
  DeviceManager& operator=(const DeviceManager&) = delete;

  const KernelLibrary& kernels() const { return kernels_; }
  const OpTable& operators() const { return kernels_.operators; }
  // Adds the operators of a library to those of the process, and their kernels for GPUs from another library, or nothing.
  // Throws ProgramError as add_operators, and if none is called `type`. "": of any name; no library for GPUs.
  void load_operators(const std::string& path, const std::string& type, const std::string& gpu_path = "");
  void add_operators(const std::function<void(OpTable&)>& define) {
    paddle_mini::add_operators(kernels_.operators, define);
  }
  // A queue for the CPU operators of programs that run on several devices. Each executor has its own: replicas that
  // wait for each other must not share a queue.
  std::shared_ptr<ThreadQueue> new_host_queue();
  // Opens a device. Throws DeviceError with the reason if it does not exist; every index of the emulated kind exists.
  DeviceQueues& at(const Place& place);
  // Sums among replicas on these places without the host, in the order of their ranks; nullptr if not supported.
  std::unique_ptr<ReplicaSums> sums_among(const std::vector<Place>& places);
  // Sums among processes by the GPUs of this machine; nullptr if it can't use any, or they can't.
  Cliques* cliques();
  void emulate(int index, const Emulation& emulation);

  // Description of the GPU support: versions, or the reason why it is unavailable.
  std::string gpu_text();
  int gpu_count();
  std::string gpu_path();  // the file of the GPU library, or "" if no GPU can be used

 private:
  DeviceLibrary* gpu_library();
  std::shared_ptr<Device> open(const Place& place);

  KernelLibrary kernels_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<ThreadQueue>> host_queues_;
  Emulation emulation_;  // the latest settings; their delays apply to host queues too
  std::map<Place, std::unique_ptr<DeviceQueues>> devices_;
  bool looked_for_gpus_ = false;
  DeviceLibrary* gpus_ = nullptr;
  std::string gpu_trouble_, gpu_path_;
};

}  // namespace paddle_mini
