// place: the device of every operator and the kernel that it runs there, and where values cross from one to another.
#pragma once

#include "core/machine.h"
#include "executor/infer.h"

namespace paddle_mini {

// Where an executor runs operators.
struct Placement {
  explicit Placement(Machine& machine, const Place& place = {}, bool cpu_fallback = false, bool replicated = false)
      : machine(machine), place(place), cpu_fallback(cpu_fallback), replicated(replicated),
        host_queue(machine.new_host_queue()) {}

  Machine& machine;
  Place place;        // of operators that name no device themselves
  bool cpu_fallback;  // an operator without kernel there runs on the processor; else that is an error
  bool replicated;    // one of several replicas: a run must be undone where another one refuses its data
  std::shared_ptr<ThreadQueue> host_queue;  // where the processor works beside devices
};

// What does the work: the device itself, or one direction of its link to the host.
enum class Lane { Compute, ToHost, ToDevice };

struct PlacedOp {
  Place place;  // of a transfer: the device at the far end of the link
  DType dtype;
  KernelFactory make;  // of a transfer: none
  Lane lane = Lane::Compute;
};

PlacedOp place_op(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                  const std::vector<std::vector<VarInfo>>& outputs, const Placement& placement);

// On the processor, whatever the operator says.
PlacedOp place_on_host(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                       const std::vector<std::vector<VarInfo>>& outputs);

// One entry for each of program.ops. An operator runs where its op_device says, else at placement.place. Variables of
// the scope live where they are written last, or if they are only read, where that happens first; every other variable
// where it is made. Where an operator reads a value that is elsewhere, memcpy_d2h and memcpy_h2d are put in before it,
// once for each value and device. DeviceError when the device, or a kernel for it and the dtype, is not there.
std::vector<PlacedOp> place_ops(InferredProgram& program, const Placement& placement);

}  // namespace paddle_mini
