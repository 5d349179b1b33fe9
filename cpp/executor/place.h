// place: the device of every operator and the kernel that it runs there.
#pragma once

#include "executor/segment.h"

namespace paddle_mini {

// Where an executor runs operators.
struct Placement {
  explicit Placement(Machine& machine, const Place& place = {}, bool cpu_fallback = false, bool replicated = false)
      : machine(machine), place(place), cpu_fallback(cpu_fallback), replicated(replicated),
        host_queue(machine.new_host_queue()) {}

  Machine& machine;
  Place place;        // of operators that name no device themselves
  bool cpu_fallback;  // an operator without kernel there runs on the CPU; else that is an error
  bool replicated;    // one of several replicas: a run must be undone where another one refuses its data
  std::shared_ptr<ThreadQueue> host_queue;  // where the CPU works beside devices
};

// The kernel that an operator runs, and where.
struct PlacedKernel {
  Place place;
  KernelFactory make;
};

// On the CPU, whatever the operator says.
PlacedKernel place_on_host(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                           const std::vector<std::vector<VarInfo>>& outputs);

// The segment with a place and a kernel for each operator: where its op_device says, else at placement.place. DeviceError
// when the device, or a kernel for it and the element type, is not there.
Segment place_operators(Segment segment, const Placement& placement);

}  // namespace paddle_mini
