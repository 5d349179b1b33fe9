// place: the device of every operator and the kernel that it runs there.
#pragma once

#include "executor/infer.h"

namespace paddle_mini {

struct PlacedOp {
  Place place;
  DType dtype;
  KernelFactory make;
};

PlacedOp place_op(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                  const std::vector<std::vector<VarInfo>>& outputs, const Place& place);

// One entry for each of program.ops. An operator runs where its op_device says, else at `place`.
// DeviceError when the device, or a kernel for it and the dtype, is not there.
std::vector<PlacedOp> place_ops(const InferredProgram& program, const Place& place);

}  // namespace paddle_mini
