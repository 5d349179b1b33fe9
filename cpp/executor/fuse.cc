// Stage 4. One walk along the operators finds who can move, a second one puts them in order.
#include "executor/fuse.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

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
// A transfer to the host can be a leader too: what it brings is worked on piece by piece as it arrives.
int64_t elements_of(const InferredProgram& program, const RunOp& op, const PlacedOp& placed) {
  if (placed.lane == Lane::ToHost) {
    const VarInfo& info = program.variables[op.outputs[0][0]].info;
    return info.kind == VarKind::Tensor ? info.shape.numel() : 0;
  }
  if (!op.op->spec->is_tiled() || !op.copies_after.empty()) return 0;
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
int leader_of(const InferredProgram& program, const RunOp& op, const PlacedOp& placed, const Touches& touches,
              const std::vector<int64_t>& elements) {
  int64_t count = placed.lane == Lane::Compute ? elements_of(program, op, placed) : 0;
  if (count == 0) return -1;
  int last = -1, leader = -1;
  for_each_variable(op.inputs, [&](int v) { last = std::max(last, touches.written(v)); });
  for_each_variable(op.inputs, [&](int v) {
    if (program.variables[v].info.shape.numel() == count && touches.written(v) == last) leader = last;
  });
  for_each_variable(op.outputs, [&](int v) { last = std::max(last, touches.touched(v)); });
  return leader >= 0 && leader == last && elements[leader] == count ? leader : -1;
}

bool may_join(const PlacedOp& leader, const PlacedOp& follower, const Placement& placement) {
  if (leader.lane == Lane::ToHost) return follower.place.is_cpu();
  if (leader.place != follower.place) return false;
  return leader.place.is_cpu() || placement.machine.at(leader.place).device->gains_from_tiles();
}

// What a transfer brings in pieces is nowhere as a whole: all its readers must be among the followers.
void keep_whole_where_needed(const InferredProgram& program, const std::vector<PlacedOp>& placed,
                             std::vector<std::vector<int>>& followers, std::vector<bool>& moves) {
  std::vector<size_t> readers(program.variables.size(), 0);
  for (const RunOp& op : program.ops) {
    std::set<int> read;
    for_each_variable(op.inputs, [&](int v) { read.insert(v); });
    for (int v : read) ++readers[v];
  }
  for (int v : program.fetches) ++readers[v];
  for (int v : program.carried) ++readers[v];
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].lane != Lane::ToHost || readers[program.ops[i].outputs[0][0]] == followers[i].size()) continue;
    for (int follower : followers[i]) moves[follower] = false;
    followers[i].clear();
  }
}

}  // namespace

void fuse(InferredProgram& program, std::vector<PlacedOp>& placed, const Placement& placement) {
  if (!is_wanted()) return;
  size_t count = program.ops.size();
  Touches touches(program.variables.size());
  std::vector<int64_t> elements(count, 0);
  std::vector<std::vector<int>> followers(count);
  std::vector<bool> moves(count, false);
  for (size_t i = 0; i < count; ++i) {
    const RunOp& op = program.ops[i];
    int leader = leader_of(program, op, placed[i], touches, elements);
    if (leader >= 0 && !may_join(placed[static_cast<size_t>(leader)], placed[i], placement)) leader = -1;
    touches.note(op, static_cast<int>(i));
    if (leader >= 0) {
      followers[static_cast<size_t>(leader)].push_back(static_cast<int>(i));
      moves[i] = true;
    } else {
      elements[i] = elements_of(program, op, placed[i]);
    }
  }
  keep_whole_where_needed(program, placed, followers, moves);
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
