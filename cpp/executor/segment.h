// segment: the table that the stages from infer to plan pass on. It holds the variables and operators of a part of a block
// that is planned at once.
#pragma once

#include <memory>

#include "core/machine.h"
#include "executor/verify.h"

namespace paddle_mini {

enum class Origin {
  Fed,  // the caller's array, or a value of the frame: only read
  InScope,  // outlives the run
  Temporary,  // made and forgotten within a run
};

struct RunVariable {
  std::string name;
  VarInfo info;
  Origin origin;
  Place place = {};  // whose memory it is in; decided by add_transfers
};

// The variables of an operator's input or output slots, as indices into Segment::variables; -1 for a hole.
struct Ports : std::vector<std::vector<int>> {
  using std::vector<std::vector<int>>::vector;

  // f(v) for each variable, holes left out; v can be changed.
  template <class F>
  void each(F f) {
    for (auto& slot : *this)
      for (int& v : slot)
        if (v >= 0) f(v);
  }
  template <class F>
  void each(F f) const {
    for (const auto& slot : *this)
      for (int v : slot)
        if (v >= 0) f(v);
  }
  int count(int variable) const {
    int found = 0;
    each([&](int v) { found += v == variable; });
    return found;
  }
};

// What does the work: the device itself, or one direction of its link to the host.
enum class Lane { Compute, ToHost, ToDevice };

struct RunOp {
  int index;  // in its block
  std::shared_ptr<const VerifiedOp> op;
  Ports inputs, outputs;
  // An output that is kept in the scope and that the kernel must not write while it reads is computed aside and then
  // copied. Pairs of (from, to).
  std::vector<std::pair<int, int>> copies_after = {};

  // Decided by place_operators, and by add_transfers for the transfers it adds.
  Place place = {};  // of a transfer: the device at the far end of the link
  KernelFactory make = nullptr;  // of a transfer: none
  Lane lane = Lane::Compute;

  bool joined = false;  // runs tile by tile with the operator before it; decided by fuse

  const OpDesc& desc() const { return op->desc; }
  const OpSpec& spec() const { return *op->spec; }
};

// A segment ends where a shape depends on data that only a run makes, and before an operator that acts on blocks or
// arrays. Most programs are one segment.
struct Segment {
  int block = 0, begin = 0, end = 0;  // the operators [begin, end) of the block
  bool whole = false;  // end is the end of the block
  std::string next;  // type of the operator at `end`
  std::vector<RunVariable> variables;
  std::vector<RunOp> ops;
  std::vector<int> feeds;  // of each feed, its variable
  std::vector<int> live_in;  // variables whose values are in the frame
  std::vector<int> live_out;  // variables that go into the frame, because they are read after `end`; ascending
  std::vector<int> fetches;  // of each fetch, its variable; only when the block is done

  int add(RunVariable variable) {
    variables.push_back(std::move(variable));
    return static_cast<int>(variables.size()) - 1;
  }
  bool is_live_out(int v) const;
  std::vector<std::vector<VarInfo>> infos(const Ports& ports) const;
  std::string str() const;  // one line for each variable and each operator
};

}  // namespace paddle_mini
