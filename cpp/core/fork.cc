// Detects a fork by a child handler of pthread_atfork().
#include "core/fork.h"

#include <pthread.h>

#include <atomic>

#include "core/error.h"

namespace paddle_mini {
namespace {

std::atomic<bool> lost{false};

}  // namespace

void note_device_use() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { lost = true; });
  static_cast<void>(registered);
}

bool lost_devices() { return lost.load(std::memory_order_relaxed); }

void require_devices_kept() {
  require<DeviceError>(!lost_devices(),
                       "this process was forked from one that had used devices, which do not work in the child: start "
                       "processes with multiprocessing's method 'spawn', or use devices only after the fork");
}

}  // namespace paddle_mini
