// Accelerator: a device beside the processor, with memory, a queue and kernels of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/place.h"
#include "core/queue.h"

namespace paddle_mini {

class OpTable;

struct MemoryUse {
  size_t in_use = 0;    // bytes that somebody holds
  size_t reserved = 0;  // bytes taken from the device, those kept for the next allocation included
  size_t peak = 0;      // the most that was ever in use
  size_t total = 0;     // of the device
};

// It has many methods because it is the whole contract of a device: a library for another kind of device implements this
// class and nothing else.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual Place place() const = 0;
  virtual std::string description() const = 0;  // one line: what it is, its memory

  // Kernels for it; operators that have none here are missing or have no kernel.
  virtual const OpTable& operators() const = 0;
  virtual bool gains_from_tiles() const = 0;  // whether neighbours should run tile by tile (executor/fuse.h)

  // Uninitialised memory, aligned to 256 bytes, never null; the host can't read it. The pointer keeps the device
  // alive. DeviceError when there is no more, with how much is in use.
  virtual std::shared_ptr<void> allocate(size_t bytes) = 0;
  virtual MemoryUse memory() const = 0;
  virtual void forget_peak() = 0;
  // Host memory that transfers are fastest to and from.
  virtual std::shared_ptr<void> allocate_staging(size_t bytes) = 0;
  // How many bytes of it one plan takes for values that pass to the host piece by piece.
  virtual size_t staging_bytes() const { return size_t{1} << 26; }

  // What a kernel of this device is given for an address: the same, or where an emulated device really has it.
  virtual void* address(void* device) const = 0;

  // Transfers; any thread may ask for them. They return when they are done and do not wait for the queue.
  virtual void to_host(void* host, const void* device, size_t bytes) = 0;
  virtual void to_device(void* device, const void* host, size_t bytes) = 0;
  // In the order of compute(): asked for by work that is given there, or followed by waiting for it.
  virtual void within(void* to, const void* from, size_t bytes) = 0;

  // Where kernels run. Given work is called with this as the current device.
  virtual Queue& compute() = 0;
  virtual void* stream() const = 0;  // what Device::stream is for kernels; nullptr where kernels need none
  // What `work` launches, as one piece of work that launches the same again with less effort; nothing is launched now.
  // nullptr where that can't be, because the device has no such thing or because the work would not do the same again.
  virtual std::unique_ptr<Work> record(Work& /*work*/) { return nullptr; }
};

// Accelerators that add up what replicas on them have, without the host. Sums have the same bits on all of them.
class ReplicaSums {
 public:
  struct Brought {  // by one replica
    void* data;
    void* stream;
  };

  virtual ~ReplicaSums() = default;
  // One thread asks, for all replicas, by rank: behind what is on their streams, the `count` elements of each become
  // the sum of all. DeviceError where that can't be launched; then nothing waits for anything.
  virtual void launch(const std::vector<Brought>& brought, DType dtype, int64_t count) = 0;
  // Ends sums under way, unfinished ones too: one accelerator that failed would leave the others waiting. Any thread
  // may ask for it. Later sums are as good as before.
  virtual void break_off() = 0;
};

// What a library of kernels for accelerators exports, by one function:
//   extern "C" paddle_mini::AcceleratorLibrary* paddle_mini_cuda(unsigned abi)
// which returns nullptr for another ABI. The object lives as long as the process.
inline constexpr unsigned kAcceleratorAbi = 3;

class AcceleratorLibrary {
 public:
  virtual ~AcceleratorLibrary() = default;
  virtual std::string description() const = 0;  // versions: of CUDA, the driver, the libraries found
  // Why no device can be used ("the driver is too old: 570.1, it must be 580 or newer"), or "".
  virtual std::string trouble() const = 0;
  virtual int device_count() const = 0;
  virtual std::shared_ptr<Accelerator> open(int index) = 0;  // DeviceError when there is no such device
  // For replicas on these devices, by rank; nullptr where the host must add up.
  virtual std::unique_ptr<ReplicaSums> sums_among(const std::vector<int>& devices) = 0;
};

}  // namespace paddle_mini
