// variable_uses: which operators of a segment write and read each variable, for passes that replace operators.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

struct VariableUse {
  int writes = 0, reads = 0;
  int writer = -1, reader = -1;  // the last operator in the segment that does it
  bool is_needed = false;  // after the segment: fetched, or a live-out value
};

std::vector<VariableUse> find_variable_uses(const Segment& segment);

// Whether all operators run on the host.
bool runs_on_host(const Segment& segment, const Placement& placement);

// Whether passes that replace operators apply: the program writes no variable of the scope, and all operators run on the
// host. Training programs and devices stay as they are.
bool may_replace_operators(const Segment& segment, const Placement& placement);

// An operator in the place of `of`. It has the device and, in errors, the line of the user's program of that one.
RunOp replacement_of(const RunOp& of, const OpTable& operators, OpDesc desc, Ports inputs, Ports outputs);

// Whether the variable is a temporary tensor that one operator writes, one operator reads, and that is not needed after the
// segment.
bool is_link(const Segment& segment, const std::vector<VariableUse>& uses, int v);

// Whether the tensor has one value in the whole segment, so that it may be read later.
bool is_stable(const Segment& segment, const std::vector<VariableUse>& uses, int v);

}  // namespace paddle_mini
