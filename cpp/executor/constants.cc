// Finds operators with constant inputs.
#include "executor/constants.h"

#include <algorithm>

#include "executor/memory_plan.h"
#include "executor/pure_operators.h"
#include "executor/variable_uses.h"

namespace paddle_mini {
namespace {

constexpr size_t kMostGrowth = size_t{64} << 20;

bool has_constant_inputs(const Segment& segment, const RunOp& op) {
  bool constant = true;
  for (size_t s = 0; s < op.inputs.size(); ++s) {
    if (op.schema().reads_only_shape(op.desc().inputs[s].name)) continue;
    for (int v : op.inputs[s]) {
      const RunVariable* variable = v < 0 ? nullptr : &segment.variables[v];
      constant = constant && (!variable || (variable->constant && variable->info.kind == VarKind::Tensor));
    }
  }
  return constant;
}

bool may_keep_outputs(const Segment& segment, const std::vector<VariableUse>& uses, const RunOp& op) {
  bool may = op.copies_after.empty(), read = false;
  op.outputs.each([&](int v) {
    const RunVariable& variable = segment.variables[v];
    may = may && variable.origin == Origin::Temporary && variable.info.kind == VarKind::Tensor &&
          variable.info.lod.empty() && uses[v].writes == 1 && !uses[v].is_needed;
    read = read || uses[v].reads > 0;
  });
  return may && read;
}

}  // namespace

Segment compute_constants(Segment segment, const Placement& placement) {
  if (!may_replace_operators(segment, placement)) return segment;
  std::vector<VariableUse> uses = find_variable_uses(segment);
  size_t grown = 0;
  for (RunOp& op : segment.ops) {
    if (!is_pure(op) || !has_constant_inputs(segment, op) || !may_keep_outputs(segment, uses, op)) continue;
    size_t read = 0, written = 0;
    op.inputs.each([&](int v) { read += segment.variables[v].constant ? bytes_of(segment.variables[v].info) : 0; });
    op.outputs.each([&](int v) { written += bytes_of(segment.variables[v].info); });
    size_t growth = written > read ? written : 0;
    if (grown + growth > kMostGrowth || !derive(segment, op)) continue;
    grown += growth;
  }
  // First, because `fold` inserts operators that read their results, before products that may precede them in the program.
  std::stable_partition(segment.ops.begin(), segment.ops.end(), [](const RunOp& op) { return op.derived != nullptr; });
  return segment;
}

}  // namespace paddle_mini
