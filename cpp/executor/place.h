// place: assigns a device to every operator and selects its kernel there.
#pragma once

#include "executor/segment.h"

namespace paddle_mini {

// The default device of an executor and its options.
struct Placement {
  explicit Placement(DeviceManager& manager, const Place& place = {}, bool cpu_fallback = false,
                     bool replicated = false)
      : manager(manager), place(place), cpu_fallback(cpu_fallback), replicated(replicated),
        host_queue(manager.new_host_queue()) {}

  DeviceManager& manager;
  Place place;        // for operators that name no device themselves
  bool cpu_fallback;  // run operators without a kernel there on the CPU instead of throwing
  int threads = 1;    // that a kernel may use
  bool replicated;    // one of several replicas: a run must be undone if another replica rejects its data
  std::shared_ptr<ThreadQueue> host_queue;  // queue of the CPU's work in multi-device programs
};

// The kernel that an operator runs, and its place.
struct PlacedKernel {
  Place place;
  KernelFactory make;
};

// Whether the operator would run on the CPU, or on a device that runs the CPU's kernels.
bool runs_host_kernels(const OpDesc& op, const Placement& placement);

// Selects the CPU kernel, regardless of the operator's op_device.
PlacedKernel place_on_host(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                           const std::vector<std::vector<VarInfo>>& outputs);

// Returns the segment with a place and a kernel for each operator: at its op_device if set, else at placement.place.
// Throws DeviceError if the device does not exist, or has no kernel for the operator and element type.
Segment place_operators(Segment segment, const Placement& placement);

}  // namespace paddle_mini
