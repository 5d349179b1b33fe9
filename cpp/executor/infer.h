// infer: kind, dtype and shape of every variable of one run, and where each comes from.
#pragma once

#include "core/scope.h"
#include "executor/verify.h"

namespace paddle_mini {

struct Feed {
  std::string name;
  VarInfo info;
};

enum class Origin {
  Fed,        // the caller's array, for this run
  InScope,    // outlives the run
  Temporary,  // made and forgotten within a run
};

struct RunVariable {
  std::string name;
  VarInfo info;
  Origin origin;
};

struct RunOp {
  int index;  // in block 0
  const VerifiedOp* op;
  std::vector<std::vector<int>> inputs;   // indices of RunVariables, one list a slot; -1 for a hole
  std::vector<std::vector<int>> outputs;
  // An output that is kept in the scope and that the kernel must not write while it reads: computed
  // aside, then copied. Pairs of (from, to).
  std::vector<std::pair<int, int>> copies_after;
};

struct InferredProgram {
  std::vector<RunVariable> variables;
  std::vector<RunOp> ops;
  std::vector<int> feeds;    // of each feed, its RunVariable; -1 when no operator reads it
  std::vector<int> fetches;  // of each fetch, its RunVariable

  std::string str() const;
};

// Shapes are worked out from the feeds and from what the scope holds. Refuses a missing, unknown or
// unfit feed, an unknown fetch, a variable without value, and whatever an operator's record refuses.
InferredProgram infer(const VerifiedProgram& program, const std::vector<Feed>& feeds,
                      const std::vector<std::string>& fetches, const Scope& scope);

std::vector<std::vector<VarInfo>> infos_of(const InferredProgram& program, const std::vector<std::vector<int>>& ports);

}  // namespace paddle_mini
