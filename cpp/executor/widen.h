// widen: an operator without a kernel for its element type runs in a wider one. What it reads is cast before it and what
// it writes is cast back after it: 16-bit floats are computed in float32 and rounded once, narrow integers in int32 or
// int64, where they wrap around on the way back. core/widening.h says what is computed so.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// An operator as it runs in the wider type.
struct Widened {
  DType dtype;  // of its kernel
  VerifiedOp op;  // attributes that name the narrow type name the wide one
  std::vector<std::vector<DType>> inputs, outputs;  // what it reads and writes, one list a slot
};

// std::nullopt where the operator has a kernel for its own element type, or no kernel in a wider one either.
std::optional<Widened> widened(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                               const std::vector<std::vector<VarInfo>>& outputs);

// Runs a wider kernel on variables of the host at once: casts to stand-ins before it, and back behind it.
class StandIns {
 public:
  StandIns(const Widened& wide, std::vector<std::vector<Variable*>> inputs, std::vector<std::vector<Variable*>> outputs,
           const OpTable& operators);
  const std::vector<std::vector<Variable*>>& inputs() const { return inputs_; }
  const std::vector<std::vector<Variable*>>& outputs() const { return outputs_; }
  void read(Device& device);
  void write_back(Device& device);

 private:
  Variable* stand_in(Variable* of, DType dtype);
  void cast(Device& device, Variable* from, Variable* to) const;

  const OpSpec& cast_;
  std::deque<Variable> made_;
  std::vector<std::vector<Variable*>> inputs_, outputs_;
  std::vector<std::pair<Variable*, Variable*>> before_, after_;  // from, to
};

// The segment with the casts put in, on the device of the operator that they are for.
Segment widen(Segment segment, const Placement& placement);

}  // namespace paddle_mini
