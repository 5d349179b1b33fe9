// Implements stream in two passes over the operators: the first finds the leader of each, the second reorders them.
#include "executor/stream.h"

#include <algorithm>
#include <utility>

#include "executor/accesses.h"

namespace paddle_mini {
namespace {

// The only variable of a port; -1 if there are none or several.
int only_variable(const std::vector<Slot>& slots, const Ports& ports, const std::string& port) {
  for (size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].name == port && ports[s].size() == 1) return ports[s][0];
  }
  return -1;
}

class Streams {
 public:
  explicit Streams(Segment segment)
      : segment_(std::move(segment)), accesses_(segment_.variables.size()), arrives_(segment_.variables.size(), -1),
        followers_(segment_.ops.size()) {}

  Segment run() {
    std::vector<bool> moves(segment_.ops.size(), false);
    for (size_t i = 0; i < segment_.ops.size(); ++i) {
      const RunOp& op = segment_.ops[i];
      const int leader = leader_of(op);
      accesses_.note(op, leader < 0 ? static_cast<int>(i) : leader);
      if (leader < 0) {
        note_led_output(op, static_cast<int>(i));
        continue;
      }
      followers_[static_cast<size_t>(leader)].push_back(i);
      moves[i] = true;
    }
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    for (size_t i = 0; i < ops.size(); ++i) {
      if (moves[i]) continue;
      segment_.ops.push_back(std::move(ops[i]));
      for (size_t follower : followers_[i]) {
        segment_.ops.push_back(std::move(ops[follower]));
        segment_.ops.back().streamed = true;
      }
    }
    return std::move(segment_);
  }

 private:
  // Operators that are refused after they have begun would leave others half done.
  bool may_take_part(const RunOp& op) const {
    bool fits = op.lane == Lane::Compute && op.place.is_cpu() && !op.fused && op.copies_after.empty() &&
                !op.schema().may_fail_validation();
    for (const Ports* ports : {&op.inputs, &op.outputs}) {
      ports->each([&](int v) { fits &= segment_.variables[v].info.kind == VarKind::Tensor; });
    }
    return fits;
  }

  bool is_streamable(int v) const {
    return v >= 0 && segment_.variables[v].origin == Origin::Temporary && !segment_.is_live_out(v);
  }
  int64_t elements(int v) const { return segment_.variables[v].info.shape.numel(); }

  void note_led_output(const RunOp& op, int at) {
    if (op.schema().leads().empty() || !may_take_part(op)) return;
    for (const PortPair& led : op.schema().leads()) {
      int v = only_variable(op.desc().outputs, op.outputs, led.output);
      if (led.holds(op.desc()) && is_streamable(v)) arrives_[v] = at;
    }
  }

  // Whether the operator needs no more of its inputs for a part of `out` than the leader has written by then.
  bool reads_parts(const RunOp& op, int out, int leader) const {
    for (size_t s = 0; s < op.inputs.size(); ++s) {
      auto is_port = [&](const PortPair& pair) {
        return pair.input == op.desc().inputs[s].name && pair.holds(op.desc());
      };
      const auto& pairs = op.schema().follows();
      const bool by_parts = op.inputs[s].size() == 1 && std::any_of(pairs.begin(), pairs.end(), is_port);
      for (int v : op.inputs[s]) {
        if (v < 0 || accesses_.written(v) < leader) continue;
        if (!by_parts || arrives_[v] != leader || accesses_.written(v) != leader || elements(v) != elements(out))
          return false;
      }
    }
    return true;
  }

  // The operator that `op` can follow, or -1. Notes that its output arrives in parts too.
  int leader_of(const RunOp& op) {
    int leader = -1;
    op.inputs.each([&](int v) { leader = std::max(leader, accesses_.written(v) == arrives_[v] ? arrives_[v] : -1); });
    if (leader < 0 || op.schema().follows().empty() || !may_take_part(op)) return -1;
    const int out = only_variable(op.desc().outputs, op.outputs, op.schema().follows()[0].output);
    if (!is_streamable(out) || elements(out) == 0 || !reads_parts(op, out, leader)) return -1;
    bool free = true;
    op.outputs.each([&](int v) { free &= accesses_.touched(v) < leader; });
    if (!free) return -1;
    arrives_[out] = leader;
    return leader;
  }

  Segment segment_;
  LastAccesses accesses_;
  std::vector<int> arrives_;  // the operator with whose parts each variable arrives; -1: none
  std::vector<std::vector<size_t>> followers_;
};

}  // namespace

Segment stream(Segment segment, const Placement&) { return Streams(std::move(segment)).run(); }

}  // namespace paddle_mini
