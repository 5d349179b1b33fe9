// infer: kind, dtype and shape of every variable of one run, and where each comes from.
#pragma once

#include <deque>

#include "core/frame.h"
#include "core/scope.h"
#include "executor/verify.h"

namespace paddle_mini {

struct Feed {
  std::string name;
  VarInfo info;
};

enum class Origin {
  Fed,        // the caller's array, or a value of the frame: only read
  InScope,    // outlives the run
  Temporary,  // made and forgotten within a run
};

struct RunVariable {
  std::string name;
  VarInfo info;
  Origin origin;
  Place place;  // whose memory it is in; decided by place
};

struct RunOp {
  int index;  // in its block
  const VerifiedOp* op;
  std::vector<std::vector<int>> inputs;   // indices of RunVariables, one list a slot; -1 for a hole
  std::vector<std::vector<int>> outputs;
  // An output that is kept in the scope and that the kernel must not write while it reads: computed
  // aside, then copied. Pairs of (from, to).
  std::vector<std::pair<int, int>> copies_after;
  bool joined = false;  // runs part by part with the operator before it; decided by fuse
};

// A stretch of a block: its operators [begin, end). It ends where a shape depends on data that only a
// run makes, and before an operator that acts on blocks or arrays; most programs are one stretch.
struct InferredProgram {
  int block = 0, begin = 0, end = 0;
  bool whole = false;  // end is the end of the block
  std::string next;    // type of the operator at `end`
  std::vector<RunVariable> variables;
  std::vector<RunOp> ops;
  std::deque<VerifiedOp> added;  // operators that place has put in: transfers and casts
  std::vector<int> feeds;     // of each feed, its RunVariable
  std::vector<int> captured;  // RunVariables whose values are in the frame
  std::vector<int> carried;   // RunVariables that go into the frame, being needed after `end`
  std::vector<int> fetches;   // of each fetch, its RunVariable; only when the block is done

  std::string str() const;
};

// Where a stretch begins and what is there by then.
struct Stretch {
  int block = 0, begin = 0;
  const std::vector<Feed>* feeds = nullptr;  // of the caller; where there is a frame, they are in it
  Frame* frame = nullptr;
  const std::vector<std::string>* fetches = nullptr;  // of the caller
};

// Shapes are worked out from the feeds, the frame and what the scope holds. Refuses a missing, unknown
// or unfit feed, an unknown fetch, a variable without value, and whatever an operator's record refuses.
InferredProgram infer(const VerifiedProgram& program, const Stretch& stretch, const Scope& scope);
void check_feed(const VerifiedProgram& program, const Feed& feed);

std::vector<std::vector<VarInfo>> infos_of(const InferredProgram& program, const std::vector<std::vector<int>>& ports);

}  // namespace paddle_mini
