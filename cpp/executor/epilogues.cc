// Implements add_epilogues in one pass over the operators.
#include "executor/epilogues.h"

#include <set>

#include "executor/fuse.h"

namespace paddle_mini {
namespace {

// The group that the next operator may join.
class Group {
 public:
  explicit Group(const Segment& segment) : segment_(segment) {}

  // Begins a group with this operator if it can be a first one.
  void begin(const RunOp& op, bool leads_tiles) {
    read_.clear();
    continued_.clear();
    int output = is_simple(op) && !op.fused && !leads_tiles ? first_output(op) : -1;
    if (output < 0) return;
    numel_ = numel(output);
    op.inputs.each([&](int v) { read_.insert(v); });
    continued_.insert(output);
  }

  // Whether the operator continues an output of the group, element by element.
  bool is_joined_by(const RunOp& op, bool leads_tiles) const {
    if (continued_.empty() || leads_tiles || op.fused || !op.schema().is_elementwise() || !is_simple(op)) return false;
    const int output = only_output(op);
    bool fits = output >= 0 && is_tensor(output) && numel(output) == numel_ && !read_.count(output), continues = false;
    op.inputs.each([&](int v) {
      fits &= is_tensor(v);
      continues |= continued_.count(v) > 0;
    });
    return fits && continues;
  }

  void join(const RunOp& op) {
    op.inputs.each([&](int v) {
      if (!continued_.count(v)) read_.insert(v);
    });
    continued_.insert(only_output(op));
  }

 private:
  // Runs on the CPU, on values that it does not refuse.
  static bool is_simple(const RunOp& op) {
    return op.place.is_cpu() && op.lane == Lane::Compute && op.copies_after.empty() && !op.derived &&
           !op.schema().may_fail_validation();
  }

  // The output that other operators may continue; -1: none.
  int first_output(const RunOp& op) const {
    const std::string& in_parts = op.schema().output_in_parts();
    int output = !in_parts.empty() ? op.output(in_parts) : op.schema().is_elementwise() ? only_output(op) : -1;
    bool tensors = output >= 0 && is_tensor(output) && op.inputs.count(output) == 0;
    op.inputs.each([&](int v) { tensors &= is_tensor(v); });
    return tensors ? output : -1;
  }

  static int only_output(const RunOp& op) {
    int output = -1, count = 0;
    op.outputs.each([&](int v) { output = v, ++count; });
    return count == 1 ? output : -1;
  }

  bool is_tensor(int v) const { return segment_.variables[v].info.kind == VarKind::Tensor; }
  int64_t numel(int v) const { return segment_.variables[v].info.shape.numel(); }

  const Segment& segment_;
  int64_t numel_ = 0;
  std::set<int> read_, continued_;  // inputs from outside; outputs, all of numel_ elements
};

}  // namespace

Segment add_epilogues(Segment segment, const Placement&) {
  if (!wants_fusion()) return segment;
  Group group(segment);
  for (size_t i = 0; i < segment.ops.size(); ++i) {
    RunOp& op = segment.ops[i];
    const bool leads_tiles = i + 1 < segment.ops.size() && segment.ops[i + 1].fused;
    op.epilogue = group.is_joined_by(op, leads_tiles);
    if (op.epilogue) group.join(op);
    else group.begin(op, leads_tiles);
  }
  return segment;
}

}  // namespace paddle_mini
