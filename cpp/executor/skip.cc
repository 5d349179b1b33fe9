// Implements skip: finds what is read and written later, then renames in one pass.
#include "executor/skip.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace paddle_mini {
namespace {

class Skips {
 public:
  explicit Skips(Segment segment)
      : segment_(std::move(segment)), reads_(segment_.variables.size(), 0), writes_(segment_.variables.size(), 0),
        last_write_(segment_.variables.size(), -1), stand_in_(segment_.variables.size()) {
    std::iota(stand_in_.begin(), stand_in_.end(), 0);
    for (size_t i = 0; i < segment_.ops.size(); ++i) {
      const RunOp& op = segment_.ops[i];
      auto note_write = [&](int v) { ++writes_[v], last_write_[v] = static_cast<int>(i); };
      op.inputs.each([&](int v) { ++reads_[v]; });
      op.outputs.each(note_write);
      for (const auto& copy : op.copies_after) note_write(copy.first), note_write(copy.second);
    }
    for (int v : segment_.fetches) ++reads_[v];
  }

  Segment run() {
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    for (size_t i = 0; i < ops.size(); ++i) {
      RunOp& op = ops[i];
      op.inputs.each([&](int& v) { v = stand_in_[v]; });
      if (!becomes_its_input(op, static_cast<int>(i))) segment_.ops.push_back(std::move(op));
    }
    for (int& v : segment_.fetches) v = stand_in_[v];
    return std::move(segment_);
  }

 private:
  const RunVariable& variable(int v) const { return segment_.variables[v]; }

  bool becomes_its_input(const RunOp& op, int at) {
    if (op.lane != Lane::Compute || !op.copies_after.empty()) return false;
    for (const PortPair& pair : op.schema().identities()) {
      if (!pair.holds(op.desc())) continue;
      int in = -1, out = -1;
      for (size_t s = 0; s < op.inputs.size(); ++s)
        if (op.desc().inputs[s].name == pair.input && op.inputs[s].size() == 1) in = op.inputs[s][0];
      for (size_t s = 0; s < op.outputs.size(); ++s)
        if (op.desc().outputs[s].name == pair.output && op.outputs[s].size() == 1) out = op.outputs[s][0];
      if (in < 0 || out < 0 || in == out || !is_same(in, out) || !is_free(op, in, out, at)) continue;
      stand_in_[out] = in;
      return true;
    }
    return false;
  }

  bool is_same(int in, int out) const {
    return variable(in).info == variable(out).info && variable(in).place == variable(out).place &&
           variable(in).info.kind == VarKind::Tensor;
  }

  // Whether neither variable changes after the operator, and nothing reads its other outputs.
  bool is_free(const RunOp& op, int in, int out, int at) const {
    bool free = last_write_[in] < at;
    op.outputs.each([&](int v) {
      free &= variable(v).origin == Origin::Temporary && !segment_.is_live_out(v) && writes_[v] == 1;
      free &= v == out || reads_[v] == 0;
    });
    return free && (variable(in).origin == Origin::Temporary || !is_fetched(out));
  }
  bool is_fetched(int v) const {
    return std::find(segment_.fetches.begin(), segment_.fetches.end(), v) != segment_.fetches.end();
  }

  Segment segment_;
  std::vector<int> reads_, writes_, last_write_;
  std::vector<int> stand_in_;  // what is read instead of each variable
};

}  // namespace

Segment skip(Segment segment, const Placement&) { return Skips(std::move(segment)).run(); }

}  // namespace paddle_mini
