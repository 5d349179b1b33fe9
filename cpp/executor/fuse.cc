// Implements fuse in two passes over the operators: the first finds which ones can move, the second reorders them.
#include "executor/fuse.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

namespace paddle_mini {
namespace {

// The number of elements that the operator updates, if all its outputs are variables of the scope; 0 if it can't run
// tile by tile. A transfer to the host can be a leader too: its data are processed in chunks as they arrive.
int64_t elements_of(const Segment& segment, const RunOp& op) {
  if (op.lane == Lane::ToHost) {
    const VarInfo& info = segment.variables[op.outputs[0][0]].info;
    return info.kind == VarKind::Tensor ? info.shape.numel() : 0;
  }
  if (!op.schema().is_tiled() || !op.copies_after.empty()) return 0;
  int64_t elements = 0;
  bool fits = true;
  op.inputs.each([&](int v) { fits &= segment.variables[v].info.kind == VarKind::Tensor; });
  op.outputs.each([&](int v) {
    fits &= segment.variables[v].origin == Origin::InScope;
    elements = std::max(elements, segment.variables[v].info.shape.numel());
  });
  return fits ? elements : 0;
}

// The last operators so far that read and wrote each variable; -1: none.
class LastAccesses {
 public:
  explicit LastAccesses(size_t variables) : read_(variables, -1), written_(variables, -1) {}
  void note(const RunOp& op, int at) {
    op.inputs.each([&](int v) { read_[v] = at; });
    op.outputs.each([&](int v) { written_[v] = at; });
    for (const auto& [from, to] : op.copies_after) read_[from] = written_[from] = written_[to] = at;
  }
  int written(int v) const { return written_[v]; }
  int touched(int v) const { return std::max(read_[v], written_[v]); }

 private:
  std::vector<int> read_, written_;
};

// The operator with which `op` can run tile by tile: the last one that wrote an input of `op`, if no later operator
// prevents the move. -1: none.
int leader_of(const Segment& segment, const RunOp& op, const LastAccesses& accesses,
              const std::vector<int64_t>& elements) {
  int64_t count = op.lane == Lane::Compute ? elements_of(segment, op) : 0;
  if (count == 0) return -1;
  int last = -1, leader = -1;
  op.inputs.each([&](int v) { last = std::max(last, accesses.written(v)); });
  op.inputs.each([&](int v) {
    if (segment.variables[v].info.shape.numel() == count && accesses.written(v) == last) leader = last;
  });
  op.outputs.each([&](int v) { last = std::max(last, accesses.touched(v)); });
  return leader >= 0 && leader == last && elements[leader] == count ? leader : -1;
}

bool may_join(const RunOp& leader, const RunOp& follower, const Placement& placement) {
  if (leader.lane == Lane::ToHost) return follower.place.is_cpu();
  if (leader.place != follower.place) return false;
  return leader.place.is_cpu() || placement.manager.at(leader.place).device->gains_from_tiles();
}

// A transfer in chunks never stores the whole value, so all its readers must be followers; otherwise it is not split.
void keep_whole_where_needed(const Segment& segment, std::vector<std::vector<int>>& followers,
                             std::vector<bool>& moves) {
  std::vector<size_t> readers(segment.variables.size(), 0);
  for (const RunOp& op : segment.ops) {
    std::set<int> read;
    op.inputs.each([&](int v) { read.insert(v); });
    for (int v : read) ++readers[v];
  }
  for (int v : segment.fetches) ++readers[v];
  for (int v : segment.live_out) ++readers[v];
  for (size_t i = 0; i < segment.ops.size(); ++i) {
    const RunOp& op = segment.ops[i];
    if (op.lane != Lane::ToHost || readers[op.outputs[0][0]] == followers[i].size()) continue;
    for (int follower : followers[i]) moves[follower] = false;
    followers[i].clear();
  }
}

}  // namespace

bool wants_fusion() {
  const char* value = std::getenv("PM_FUSE");
  return !value || std::strcmp(value, "0") != 0;
}

Segment fuse(Segment segment, const Placement& placement) {
  if (!wants_fusion()) return segment;
  size_t count = segment.ops.size();
  LastAccesses accesses(segment.variables.size());
  std::vector<int64_t> elements(count, 0);
  std::vector<std::vector<int>> followers(count);
  std::vector<bool> moves(count, false);
  for (size_t i = 0; i < count; ++i) {
    const RunOp& op = segment.ops[i];
    int leader = leader_of(segment, op, accesses, elements);
    if (leader >= 0 && !may_join(segment.ops[static_cast<size_t>(leader)], op, placement)) leader = -1;
    accesses.note(op, static_cast<int>(i));
    if (leader >= 0) {
      followers[static_cast<size_t>(leader)].push_back(static_cast<int>(i));
      moves[i] = true;
    } else {
      elements[i] = elements_of(segment, op);
    }
  }
  keep_whole_where_needed(segment, followers, moves);
  std::vector<RunOp> ops = std::exchange(segment.ops, {});
  for (size_t i = 0; i < count; ++i) {
    if (moves[i]) continue;
    segment.ops.push_back(std::move(ops[i]));
    for (int follower : followers[i]) {
      segment.ops.push_back(std::move(ops[static_cast<size_t>(follower)]));
      segment.ops.back().fused = true;
    }
  }
  return segment;
}

}  // namespace paddle_mini
