// Implements the memory, the addresses and the host link of an emulated device.
#include "core/emulated_device.h"

#include <cstring>

#include "core/memory.h"

namespace paddle_mini {
namespace {

// An address of emulated:i is the real one with i + 1 in bits that are 0 in every address of a process: dereferencing
// it without EmulatedDevice::address faults at once.
constexpr int kTagShift = 48;

uintptr_t tag_of(int index) { return static_cast<uintptr_t>(index + 1) << kTagShift; }

}  // namespace

void EmulatedMemory::take(size_t bytes, size_t total, const std::string& device) {
  std::lock_guard<std::mutex> lock(mutex_);
  require<DeviceError>(bytes <= total && in_use_ <= total - bytes, "out of memory on ", device, ": ", bytes,
                       " bytes are wanted, ", in_use_, " of ", total, " are in use");
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
}

void EmulatedMemory::give_back(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  in_use_ -= bytes;
}

MemoryUse EmulatedMemory::use(size_t total) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {in_use_, in_use_, peak_, total};
}

void EmulatedMemory::forget_peak() {
  std::lock_guard<std::mutex> lock(mutex_);
  peak_ = in_use_;
}

EmulatedDevice::EmulatedDevice(int index, const OpTable& operators) : index_(index), operators_(operators) {}

void EmulatedDevice::set(const Emulation& emulation) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    emulation_ = emulation;
  }
  queue_.delay(emulation.delay_seed, emulation.most_delay);
}

std::string EmulatedDevice::description() const {
  Emulation now = emulation();
  std::string link = now.bandwidth > 0 ? text(now.bandwidth / 1e9, " GB/s to the host") : "no limit to the link";
  return text("the CPU as a device, ", now.memory >> 20, " MiB, ", link);
}

std::shared_ptr<void> EmulatedDevice::allocate(size_t bytes) {
  size_t rounded = aligned(bytes);
  memory_.take(rounded, emulation().memory, name_of(place()));
  std::shared_ptr<void> real;
  try {
    real = paddle_mini::allocate(rounded);
  } catch (...) {
    memory_.give_back(rounded);
    throw;
  }
  auto tagged = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(real.get()) | tag_of(index_));
  return std::shared_ptr<void>(tagged,
                               [real, rounded, self = shared_from_this()](void*) { self->memory_.give_back(rounded); });
}

MemoryUse EmulatedDevice::memory() const { return memory_.use(emulation().memory); }

void* EmulatedDevice::address(void* device) const {
  auto number = reinterpret_cast<uintptr_t>(device);
  require<DeviceError>((number >> kTagShift) == static_cast<uintptr_t>(index_ + 1), "an address that is not of ",
                       name_of(place()), " was given to a kernel or a transfer there");
  return reinterpret_cast<void*>(number ^ tag_of(index_));
}

void EmulatedDevice::to_host(void* host, const void* device, size_t bytes) {
  auto start = std::chrono::steady_clock::now();
  std::memcpy(host, address(const_cast<void*>(device)), bytes);
  pass(to_host_, bytes, start);
}

void EmulatedDevice::to_device(void* device, const void* host, size_t bytes) {
  auto start = std::chrono::steady_clock::now();
  std::memcpy(address(device), host, bytes);
  pass(to_device_, bytes, start);
}

void EmulatedDevice::within(void* to, const void* from, size_t bytes) {
  std::memmove(address(to), address(const_cast<void*>(from)), bytes);
}

// Blocks until a link of this bandwidth would have finished. The next transfer makes up for the time this one
// overslept.
void EmulatedDevice::pass(Link& link, size_t bytes, std::chrono::steady_clock::time_point start) {
  Emulation now = emulation();
  double seconds = now.latency + (now.bandwidth > 0 ? static_cast<double>(bytes) / now.bandwidth : 0);
  if (seconds <= 0) return;
  using Clock = std::chrono::steady_clock;
  auto length = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  constexpr std::chrono::milliseconds kOverslept{1};
  std::lock_guard<std::mutex> lock(link.mutex);
  link.free = std::max(link.free, start - kOverslept) + length;
  std::this_thread::sleep_until(link.free);
}

}  // namespace paddle_mini
