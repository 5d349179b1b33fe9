// Stage 4. One walk along the operators finds who can move, a second one puts them in order.
#include "executor/fuse.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace paddle_mini {
namespace {

bool is_wanted() {
  const char* value = std::getenv("PM_FUSE");
  return !value || std::strcmp(value, "0") != 0;
}

template <class F>
void for_each_variable(const std::vector<std::vector<int>>& ports, F function) {
  for (const auto& slot : ports) for (int v : slot) if (v >= 0) function(v);
}

// The number of elements that the operator changes, all of variables in the scope, or 0 where it can't run in parts.
int64_t elements_of(const InferredProgram& program, const RunOp& op) {
  if (!op.op->spec->runs_in_parts() || !op.copies_after.empty()) return 0;
  int64_t elements = 0;
  bool fits = true;
  for_each_variable(op.inputs, [&](int v) { fits &= program.variables[v].info.kind == VarKind::Tensor; });
  for_each_variable(op.outputs, [&](int v) {
    fits &= program.variables[v].origin == Origin::InScope;
    elements = std::max(elements, program.variables[v].info.shape.numel());
  });
  return fits ? elements : 0;
}

// Where each variable was last read and written by the operators so far; -1: not yet.
class Touches {
 public:
  explicit Touches(size_t variables) : read_(variables, -1), written_(variables, -1) {}
  void note(const RunOp& op, int at) {
    for_each_variable(op.inputs, [&](int v) { read_[v] = at; });
    for_each_variable(op.outputs, [&](int v) { written_[v] = at; });
    for (const auto& [from, to] : op.copies_after) read_[from] = written_[from] = written_[to] = at;
  }
  int written(int v) const { return written_[v]; }
  int touched(int v) const { return std::max(read_[v], written_[v]); }

 private:
  std::vector<int> read_, written_;
};

// The operator that `op` can run in parts with: the one that last wrote something `op` reads, if nothing after it
// stands in the way. -1: none.
int leader_of(const InferredProgram& program, const RunOp& op, const Touches& touches,
              const std::vector<int64_t>& elements) {
  int64_t count = elements_of(program, op);
  if (count == 0) return -1;
  int last = -1, leader = -1;
  for_each_variable(op.inputs, [&](int v) { last = std::max(last, touches.written(v)); });
  for_each_variable(op.inputs, [&](int v) {
    if (program.variables[v].info.shape.numel() == count && touches.written(v) == last) leader = last;
  });
  for_each_variable(op.outputs, [&](int v) { last = std::max(last, touches.touched(v)); });
  return leader >= 0 && leader == last && elements[leader] == count ? leader : -1;
}

}  // namespace

void fuse(InferredProgram& program, std::vector<PlacedOp>& placed) {
  if (!is_wanted()) return;
  size_t count = program.ops.size();
  Touches touches(program.variables.size());
  std::vector<int64_t> elements(count, 0);
  std::vector<std::vector<int>> followers(count);
  std::vector<bool> moves(count, false);
  for (size_t i = 0; i < count; ++i) {
    const RunOp& op = program.ops[i];
    int leader = leader_of(program, op, touches, elements);
    if (leader >= 0 && !(placed[static_cast<size_t>(leader)].place == placed[i].place)) leader = -1;
    touches.note(op, static_cast<int>(i));
    if (leader >= 0) {
      followers[static_cast<size_t>(leader)].push_back(static_cast<int>(i));
      moves[i] = true;
    } else {
      elements[i] = elements_of(program, op);
    }
  }
  if (std::find(moves.begin(), moves.end(), true) == moves.end()) return;
  std::vector<RunOp> ordered;
  std::vector<PlacedOp> placed_so;
  auto append = [&](size_t i, bool joined) {
    ordered.push_back(std::move(program.ops[i]));
    ordered.back().joined = joined;
    placed_so.push_back(placed[i]);
  };
  for (size_t i = 0; i < count; ++i) {
    if (moves[i]) continue;
    append(i, false);
    for (int follower : followers[i]) append(static_cast<size_t>(follower), true);
  }
  program.ops = std::move(ordered);
  placed = std::move(placed_so);
}

}  // namespace paddle_mini
