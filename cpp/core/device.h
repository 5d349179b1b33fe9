// Device: a device other than the CPU, with its own memory, queue and kernels.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clique.h"
#include "core/dtype.h"
#include "core/place.h"
#include "core/queue.h"

namespace paddle_mini {

class OpTable;

struct MemoryUse {
  size_t in_use = 0;    // bytes of live allocations
  size_t reserved = 0;  // bytes taken from the device, including those cached for later allocations
  size_t peak = 0;      // the highest in_use so far
  size_t total = 0;     // capacity of the device
};

// It has many methods because it is the whole interface of a device: a library for another kind of device implements this
// class and nothing else.
class Device {
 public:
  virtual ~Device() = default;
  virtual Place place() const = 0;
  virtual std::string description() const = 0;  // one line: the device and its memory size

  // The operators with kernels for this device; any other is absent or has no kernel in its schema.
  virtual const OpTable& operators() const = 0;
  virtual bool gains_from_tiles() const = 0;  // whether adjacent operators should run tile by tile (executor/fuse.h)

  // Allocates uninitialised memory, aligned to 256 bytes and never null, which the host can't read. The pointer keeps
  // the device alive. Throws DeviceError, with the amount in use, when the memory is exhausted.
  virtual std::shared_ptr<void> allocate(size_t bytes) = 0;
  virtual MemoryUse memory() const = 0;
  virtual void forget_peak() = 0;
  // Allocates host memory to and from which transfers are fastest (pinned memory for a GPU).
  virtual std::shared_ptr<void> allocate_staging(size_t bytes) = 0;
  // Staging bytes that one plan uses for values that pass through the host chunk by chunk.
  virtual size_t staging_bytes() const { return size_t{1} << 26; }

  // The address that kernels of this device use: `device` itself, or the real address on an emulated device.
  virtual void* address(void* device) const = 0;

  // Synchronous transfers, callable from any thread; they do not wait for the queue.
  virtual void to_host(void* host, const void* device, size_t bytes) = 0;
  virtual void to_device(void* device, const void* host, size_t bytes) = 0;
  // Copies within the device in the order of compute(): work of that queue calls it, or the caller waits for the queue
  // after it.
  virtual void within(void* to, const void* from, size_t bytes) = 0;

  // The queue in which kernels run. Work runs with this device as the current one.
  virtual Queue& compute() = 0;
  virtual void* stream() const = 0;  // the value of KernelContext::stream; nullptr if kernels need none
  // Captures the launches of `work`, without executing them, as one piece of work that repeats them at lower cost.
  // Returns nullptr if the device has no such feature or `work` would not launch the same again.
  virtual std::unique_ptr<Work> record(Work& /*work*/) { return nullptr; }
};

// Sums values of replicas on devices without the host. The sums have the same bits on all of them.
class ReplicaSums {
 public:
  struct Contribution {  // the contribution of one replica
    void* data;
    void* stream;
  };

  virtual ~ReplicaSums() = default;
  // One thread calls this for all replicas, in the order of their ranks: after the work on their streams, the `count`
  // elements of each replica become the sum of all. Throws DeviceError if the launch fails; then no stream waits for
  // the sum.
  virtual void launch(const std::vector<Contribution>& brought, DType dtype, int64_t count) = 0;
  // Aborts sums that have not finished, since one failed device would leave the others waiting. Any thread may
  // call it. Later sums are unaffected.
  virtual void cancel() = 0;
};

// The interface that a library of kernels for devices exports, through one function:
//   extern "C" paddle_mini::DeviceLibrary* paddle_mini_cuda(unsigned abi)
// It returns nullptr for another ABI version. The object lives as long as the process.
inline constexpr unsigned kDeviceAbi = 5;

class DeviceLibrary {
 public:
  virtual ~DeviceLibrary() = default;
  virtual std::string description() const = 0;  // versions of CUDA, the driver and the libraries found
  // The reason why no device can be used ("the driver is too old: 570.1, it must be 580 or newer"), or "".
  virtual std::string trouble() const = 0;
  virtual int device_count() const = 0;
  virtual std::shared_ptr<Device> open(int index) = 0;  // throws DeviceError if the device does not exist
  // Adds those operators that `define` adds to a table and that have kernels for these devices; ProgramError, and none is
  // added, if one exists. Devices that are open have them too.
  virtual void add_operators(const std::function<void(OpTable&)>& define) = 0;
  // Sums among replicas on these devices, in the order of their ranks; nullptr if the host must compute them.
  virtual std::unique_ptr<ReplicaSums> sums_among(const std::vector<int>& devices) = 0;
  // Sums among processes; nullptr if the hosts must compute them.
  virtual Cliques* cliques() = 0;
};

}  // namespace paddle_mini
