// widen: runs an operator without a kernel for its element type in a wider one. Its inputs are cast before it and its
// outputs are cast back after it: 16-bit floats are computed in float32 and rounded once, narrow integers in int32 or
// int64, and wrap around when cast back; real numbers beside complex ones count as these. core/widening.h and
// core/promotion.h define the wider types.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// An operator in the wider type.
struct Widened {
  DType dtype;  // its kernel's
  VerifiedOp op;  // attributes that name the narrow type name the wide one
  std::vector<std::vector<DType>> inputs, outputs;  // its dtypes of inputs and outputs, one list per slot
};

// std::nullopt if the operator has a kernel for its own element type, or no kernel in a wider one either.
// `narrow_kernels`: whether it runs where the kernels of the host run, some of which are for 16-bit floats.
std::optional<Widened> widened(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                               const std::vector<std::vector<VarInfo>>& outputs, bool narrow_kernels = true);

// Runs a wider kernel on host variables immediately: casts inputs to stand-ins before it, and outputs back after it.
class StandIns {
 public:
  StandIns(const Widened& wide, std::vector<std::vector<Variable*>> inputs, std::vector<std::vector<Variable*>> outputs,
           const OpTable& operators);
  const std::vector<std::vector<Variable*>>& inputs() const { return inputs_; }
  const std::vector<std::vector<Variable*>>& outputs() const { return outputs_; }
  void read(KernelContext& context);
  void write_back(KernelContext& context);

 private:
  Variable* stand_in(Variable* of, DType dtype);
  void cast(KernelContext& context, Variable* from, Variable* to) const;

  const OpSchema& cast_;
  std::deque<Variable> made_;
  std::vector<std::vector<Variable*>> inputs_, outputs_;
  std::vector<std::pair<Variable*, Variable*>> before_, after_;  // from, to
};

// A cast between two variables, on the device of the operator beside it. `schema` is that of cast.
RunOp cast_beside(const Segment& segment, const OpSchema& schema, const RunOp& op, int from, int to);

// Returns the segment with casts on the devices of the operators that need them.
Segment widen(Segment segment, const Placement& placement);

}  // namespace paddle_mini
