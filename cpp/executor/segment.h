// segment: the intermediate representation that the stages from infer to plan transform. It holds the variables and
// operators of a part of a block that is planned as one.
#pragma once

#include <memory>

#include "core/device_manager.h"
#include "executor/derived.h"
#include "executor/verify.h"

namespace paddle_mini {

class Scope;

enum class Origin {
  Fed,  // the caller's array or a value of the frame; read-only
  InScope,  // outlives the run
  Temporary,  // lives within a run
  Part,  // some entries of another variable at a time (batches.h)
  Derived,  // computed from constants, and kept between runs (derived.h)
};

struct RunVariable {
  std::string name;
  VarInfo info;
  Origin origin;
  Place place = {};  // the device of its memory; set by add_transfers
  bool constant = false;  // in the scope, and the program never writes it; or derived
  std::shared_ptr<Variable> derived = nullptr;  // for Origin::Derived
};

// The variables of an operator's input or output slots, as indices into Segment::variables; -1 for a hole.
struct Ports : std::vector<std::vector<int>> {
  using std::vector<std::vector<int>>::vector;

  // Calls f(v) for each variable, except holes; f may change v.
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

// The executor of an operation: the device itself, or one direction of its host link.
enum class Lane { Compute, ToHost, ToDevice };

struct RunOp {
  int index;  // in its block
  std::shared_ptr<const VerifiedOp> op;
  Ports inputs, outputs;
  // An output in the scope that the kernel must not write while it reads the old value is computed in a temporary and
  // then copied. Pairs of (from, to).
  std::vector<std::pair<int, int>> copies_after = {};

  // Set by place_operators, and by add_transfers for the transfers that it adds.
  Place place = {};  // for a transfer: the device, not the host
  KernelFactory make = nullptr;  // nullptr for transfers
  Lane lane = Lane::Compute;

  bool fused = false;  // runs tile by tile with the preceding operator; set by fuse
  bool epilogue = false;  // runs on each part of the preceding operator's output; set by add_epilogues
  std::shared_ptr<DerivedValues> derived = nullptr;  // its outputs, if they are derived; set by derive()

  const OpDesc& desc() const { return op->desc; }
  const OpSchema& schema() const { return *op->schema; }
  // The only variable of a port; -1 if there is none, or several.
  int input(const std::string& port) const { return only(desc().inputs, inputs, port); }
  int output(const std::string& port) const { return only(desc().outputs, outputs, port); }

 private:
  static int only(const std::vector<Slot>& slots, const Ports& ports, const std::string& port) {
    for (size_t s = 0; s < slots.size(); ++s)
      if (slots[s].name == port && ports[s].size() == 1) return ports[s][0];
    return -1;
  }
};

// Operators that run for the first entries of a batch, one after the other, then for the next ones; set by split_batches.
struct BatchLoop {
  size_t first, last;  // the operators [first, last)
  int64_t count;  // how many times they run
  // A variable, and that of Origin::Part which the operators have in its place.
  std::vector<std::pair<int, int>> parts = {};
};

// A segment ends before an operator whose shapes depend on data computed by the run, and before a control operator.
// Most programs are one segment.
struct Segment {
  int block = 0, begin = 0, end = 0;  // the operators [begin, end) of the block
  bool whole = false;  // `end` is the end of the block
  bool reads_only = false;  // the program writes no variable of the scope
  const Scope* scope = nullptr;
  std::string next;  // type of the operator at `end`
  std::vector<RunVariable> variables;
  std::vector<RunOp> ops;
  std::vector<BatchLoop> batch_loops;  // in the order of their operators
  std::vector<int> feeds;  // the variable of each feed
  std::vector<int> live_in;  // variables whose values are in the frame
  std::vector<int> live_out;  // variables that are stored in the frame, because they are read after `end`; ascending
  std::vector<int> fetches;  // the variable of each fetch; only for the segment that ends the block

  int add(RunVariable variable) {
    variables.push_back(std::move(variable));
    return static_cast<int>(variables.size()) - 1;
  }
  bool is_live_out(int v) const;
  std::vector<std::vector<VarInfo>> infos(const Ports& ports) const;
  std::string str() const;  // one line for each variable and each operator
};

}  // namespace paddle_mini
