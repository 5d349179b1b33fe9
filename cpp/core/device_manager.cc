// Opens devices and finds the library of GPU kernels.
#include "core/device_manager.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/fork.h"

namespace paddle_mini {

DeviceQueues& DeviceManager::at(const Place& place) {
  require_devices_kept();
  note_device_use();
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<DeviceQueues>& held = devices_[place];
  if (!held) {
    std::shared_ptr<Device> device = open(place);
    held = std::make_unique<DeviceQueues>();
    held->device = std::move(device);
  }
  return *held;
}

void DeviceManager::emulate(int index, const Emulation& emulation) {
  DeviceQueues& queues = at({DeviceKind::Emulated, index});
  static_cast<EmulatedDevice&>(*queues.device).set(emulation);
  queues.to_host.delay(emulation.delay_seed + 1, emulation.most_delay);
  queues.to_device.delay(emulation.delay_seed + 2, emulation.most_delay);
  std::lock_guard<std::mutex> lock(mutex_);
  emulation_ = emulation;
  for (const auto& held : host_queues_) {
    if (auto queue = held.lock()) queue->delay(emulation.delay_seed + 3, emulation.most_delay);
  }
}

std::shared_ptr<ThreadQueue> DeviceManager::new_host_queue() {
  auto queue = std::make_shared<ThreadQueue>();
  std::lock_guard<std::mutex> lock(mutex_);
  queue->delay(emulation_.delay_seed + 3, emulation_.most_delay);
  auto gone = [](const std::weak_ptr<ThreadQueue>& held) { return held.expired(); };
  host_queues_.erase(std::remove_if(host_queues_.begin(), host_queues_.end(), gone), host_queues_.end());
  host_queues_.push_back(queue);
  return queue;
}

void DeviceManager::load_operators(const std::string& path, const std::string& type, const std::string& gpu_path) {
  std::function<void(OpTable&)> define = operators_of_library(path), define_on_gpu;
  if (!gpu_path.empty()) define_on_gpu = operators_of_library(gpu_path);
  auto checked = [&](OpTable& operators) {
    define(operators);
    require<ProgramError>(type.empty() || operators.find(type), "the file defines no operator '", printable(type), "'");
  };
  paddle_mini::add_operators(kernels_.operators, checked, [&] {
    if (!define_on_gpu) return;
    std::lock_guard<std::mutex> lock(mutex_);
    DeviceLibrary* library = gpu_library();
    require<DeviceError>(library, gpu_trouble_);
    library->add_operators(define_on_gpu);
  });
}

std::shared_ptr<Device> DeviceManager::open(const Place& place) {
  require<DeviceError>(!place.is_cpu(), "cpu is not a device");
  if (place.kind == DeviceKind::Emulated) return std::make_shared<EmulatedDevice>(place.index, kernels_.operators);
  DeviceLibrary* library = gpu_library();
  require<DeviceError>(library, "device '", name_of(place), "' is not available: ", gpu_trouble_);
  int count = library->device_count();
  require<DeviceError>(place.index < count, "device '", name_of(place), "' is not available: this machine has ", count,
                       " GPUs");
  return library->open(place.index);
}

std::unique_ptr<ReplicaSums> DeviceManager::sums_among(const std::vector<Place>& places) {
  std::vector<int> devices;
  for (const Place& place : places) {
    if (place.kind == DeviceKind::Gpu) devices.push_back(place.index);
  }
  if (devices.size() < 2 || devices.size() < places.size()) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  DeviceLibrary* library = gpu_library();
  return library ? library->sums_among(devices) : nullptr;
}

Cliques* DeviceManager::cliques() {
  std::lock_guard<std::mutex> lock(mutex_);
  DeviceLibrary* library = gpu_library();
  return library ? library->cliques() : nullptr;
}

// PM_CUDA_LIBRARY overrides the file that lies beside the CPU kernels.
DeviceLibrary* DeviceManager::gpu_library() {
  if (looked_for_gpus_) return gpus_;
  looked_for_gpus_ = true;
  const char* named = std::getenv("PM_CUDA_LIBRARY");
  std::string path =
      named && *named ? named : kernels_.path.substr(0, kernels_.path.rfind('/')) + "/libpaddle_mini_cuda.so";
  if (access(path.c_str(), R_OK) != 0) {
    gpu_trouble_ =
        "this build has no kernels for GPUs (" + path + "); make cuda or the wheel paddle_mini_cuda13 adds them";
    return nullptr;
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto make = handle ? reinterpret_cast<DeviceLibrary* (*)(unsigned)>(dlsym(handle, "paddle_mini_cuda")) : nullptr;
  if (!make) {
    const char* reason = dlerror();
    gpu_trouble_ = text("can't load ", path, ": ", reason ? reason : "it is not a kernel library for GPUs");
    return nullptr;
  }
  DeviceLibrary* library = make(kDeviceAbi);
  if (!library)
    gpu_trouble_ = text(path, " was built for another version of paddle_mini (its interface is not ", kDeviceAbi, ")");
  else gpu_trouble_ = library->trouble();
  gpu_path_ = path;
  return gpus_ = gpu_trouble_.empty() ? library : nullptr;
}

std::string DeviceManager::gpu_text() {
  std::lock_guard<std::mutex> lock(mutex_);
  DeviceLibrary* library = gpu_library();
  return library ? library->description() : gpu_trouble_;
}

std::string DeviceManager::gpu_path() {
  std::lock_guard<std::mutex> lock(mutex_);
  return gpu_library() ? gpu_path_ : "";
}

int DeviceManager::gpu_count() {
  std::lock_guard<std::mutex> lock(mutex_);
  DeviceLibrary* library = gpu_library();
  return library ? library->device_count() : 0;
}

}  // namespace paddle_mini
