// Finds variables with equal values.
#include "executor/identities.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "executor/pure_operators.h"
#include "executor/variable_uses.h"

namespace paddle_mini {
namespace {

bool is_reshape(const std::string& type) {
  static const std::unordered_set<std::string> types = {"reshape",    "reshape2", "squeeze2",
                                                        "unsqueeze2", "flatten2", "flatten_contiguous_range"};
  return types.count(type) > 0;
}

bool is_transpose(const std::string& type) { return type == "transpose" || type == "transpose2"; }

int bits_of_integer(DType dtype) {
  switch (dtype) {
    case DType::Bool: return 1;
    case DType::Int8: return 8;
    case DType::Int16: return 16;
    case DType::Int32: return 32;
    case DType::Int64: return 64;
    default: return 0;
  }
}

// Whether every value of `from` is one of `to`.
bool loses_nothing(DType from, DType to) {
  if (from == DType::Float16 || from == DType::BFloat16) return to == DType::Float32 || to == DType::Float64;
  if (from == DType::Float32) return to == DType::Float64;
  int narrow = bits_of_integer(from), wide = bits_of_integer(to);
  if (narrow == 0) return false;
  if (to == DType::Float64) return narrow <= 32;
  if (to == DType::Float32) return narrow <= 16;
  return wide >= narrow;
}

class Identities {
 public:
  Identities(Segment segment, const OpTable& operators)
      : segment_(std::move(segment)), operators_(operators), uses_(find_variable_uses(segment_)),
        source_(segment_.variables.size()) {
    std::iota(source_.begin(), source_.end(), 0);
  }

  Segment run() {
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    makers_.assign(segment_.variables.size(), nullptr);
    std::vector<bool> stays;
    for (RunOp& op : ops) {
      op.inputs.each([&](int& v) { v = source_[v]; });
      op.outputs.each([&](int v) { makers_[v] = &op; });
      stays.push_back(!leave_out(op));
    }
    for (size_t i = 0; i < ops.size(); ++i)
      if (stays[i]) segment_.ops.push_back(std::move(ops[i]));
    drop_unread();
    return std::move(segment_);
  }

 private:
  const VarInfo& info(int v) const { return segment_.variables[v].info; }

  // Whether the variable has one value in the whole segment.
  bool is_stable(int v) const {
    const RunVariable& variable = segment_.variables[v];
    return variable.info.kind == VarKind::Tensor && uses_[v].writes == (variable.origin == Origin::Temporary ? 1 : 0);
  }

  // Whether the operator may go: readers of `out` can read `in`, and its other outputs have no readers.
  bool may_replace(const RunOp& op, int in, int out) const {
    bool may = op.copies_after.empty() && is_stable(in) && is_stable(out) && info(in) == info(out);
    op.outputs.each([&](int v) {
      may = may && segment_.variables[v].origin == Origin::Temporary && !uses_[v].is_needed &&
            (v == out || uses_[v].reads == 0);
    });
    return may;
  }

  bool leave_out(RunOp& op) {
    auto [in, out] = ends_of(op);
    if (in < 0 || out < 0) return false;
    int same = same_as(op, in, out);
    if (same >= 0 && may_replace(op, same, out)) {
      source_[out] = same;
      return true;
    }
    if (op.desc().type == "dropout") scale_instead(op, in, out);
    return false;
  }

  // The input and the output that may have equal values; -1: none.
  static std::pair<int, int> ends_of(const RunOp& op) {
    const std::string& type = op.desc().type;
    static const std::unordered_set<std::string> types = {"assign", "scale", "cast", "dropout", "concat", "split"};
    if (!types.count(type) && !is_reshape(type) && !is_transpose(type)) return {-1, -1};
    return {op.input("X"), op.output("Out")};
  }

  // A variable with the values of the output; -1: none.
  int same_as(const RunOp& op, int in, int out) const {
    const std::string& type = op.desc().type;
    if (type == "assign" || type == "concat" || type == "split") return in;
    if (type == "scale") {
      bool one = op.input("ScaleTensor") < 0 && attr_of<float>(op.desc(), "scale") == 1 &&
                 attr_of<float>(op.desc(), "bias") == 0;
      return one ? in : -1;
    }
    if (type == "dropout") {
      bool keeps = attr_of<float>(op.desc(), "dropout_prob") == 0 ||
                   attr_of<std::string>(op.desc(), "dropout_implementation") == "upscale_in_train";
      return attr_of<bool>(op.desc(), "is_test") && keeps ? in : -1;
    }
    if (type == "cast") return same_after_cast(in, out);
    return is_transpose(type) ? same_after_transpose(op, in) : same_after_reshape(in, out);
  }

  const RunOp* maker_of(int v) const { return is_stable(v) ? makers_[v] : nullptr; }

  int same_after_cast(int in, int out) const {
    if (info(in).dtype == info(out).dtype) return in;
    const RunOp* before = maker_of(in);
    if (!before || before->desc().type != "cast") return -1;
    int x = before->input("X");
    return x >= 0 && info(x).dtype == info(out).dtype && loses_nothing(info(x).dtype, info(in).dtype) ? x : -1;
  }

  int same_after_reshape(int in, int out) const {
    for (int v = in; v >= 0;) {
      if (info(v) == info(out)) return v;
      const RunOp* before = maker_of(v);
      bool goes_on = before && is_reshape(before->desc().type) && before->copies_after.empty();
      v = goes_on ? before->input("X") : -1;
      if (v >= 0 && !is_stable(v)) return -1;
    }
    return -1;
  }

  // Axis i of the output is axis second[i] of the value in between, and so first[second[i]] of its source.
  int same_after_transpose(const RunOp& op, int in) const {
    const auto& second = attr_of<std::vector<int32_t>>(op.desc(), "axis");
    auto is_order = [](const std::vector<int32_t>& axes) {
      for (size_t i = 0; i < axes.size(); ++i)
        if (axes[i] != static_cast<int32_t>(i)) return false;
      return true;
    };
    if (is_order(second)) return in;
    const RunOp* before = maker_of(in);
    if (!before || !is_transpose(before->desc().type)) return -1;
    std::vector<int32_t> both;
    const auto& first = attr_of<std::vector<int32_t>>(before->desc(), "axis");
    if (first.size() != second.size()) return -1;
    for (int32_t axis : second) {
      if (axis < 0 || axis >= static_cast<int32_t>(first.size())) return -1;
      both.push_back(first[static_cast<size_t>(axis)]);
    }
    return is_order(both) ? before->input("X") : -1;
  }

  // dropout in testing (downgrade_in_infer) multiplies by 1 - p; in float32, because `scale` is one.
  void scale_instead(RunOp& op, int in, int out) {
    if (!attr_of<bool>(op.desc(), "is_test") || info(in).dtype != DType::Float32 || !may_replace(op, in, out)) return;
    OpDesc desc = make_op("scale", {{"X", op.desc().input("X")}}, {{"Out", op.desc().output("Out")}},
                          {{"scale", 1.0f - attr_of<float>(op.desc(), "dropout_prob")}});
    op = replacement_of(op, operators_, std::move(desc), {{in}}, {{out}});
  }

  // Calls f(v) for the variables of which the operator reads no element. They need not be computed.
  template <class F>
  static void each_shape_input(const RunOp& op, F f) {
    for (size_t s = 0; s < op.inputs.size(); ++s) {
      if (!op.schema().reads_only_shape(op.desc().inputs[s].name)) continue;
      for (int v : op.inputs[s])
        if (v >= 0) f(v);
    }
  }

  // A program without fetches runs for its own sake, such as to measure it.
  void drop_unread() {
    if (segment_.fetches.empty() && segment_.live_out.empty()) return;
    uses_ = find_variable_uses(segment_);
    for (const RunOp& op : segment_.ops) each_shape_input(op, [&](int v) { --uses_[v].reads; });
    std::vector<RunOp> left;
    for (size_t i = segment_.ops.size(); i-- > 0;) {
      RunOp& op = segment_.ops[i];
      bool unread = is_pure(op) && !op.schema().may_fail_validation() && op.copies_after.empty();
      op.outputs.each([&](int v) {
        unread =
            unread && segment_.variables[v].origin == Origin::Temporary && uses_[v].reads == 0 && !uses_[v].is_needed;
      });
      if (unread) {
        op.inputs.each([&](int v) { --uses_[v].reads; });
        each_shape_input(op, [&](int v) { ++uses_[v].reads; });
      } else {
        left.push_back(std::move(op));
      }
    }
    segment_.ops.assign(std::make_move_iterator(left.rbegin()), std::make_move_iterator(left.rend()));
  }

  Segment segment_;
  const OpTable& operators_;
  std::vector<VariableUse> uses_;
  std::vector<int> source_;  // the variable that readers of each one read
  std::vector<const RunOp*> makers_;  // the last operator that writes each variable
};

}  // namespace

Segment leave_out_identities(Segment segment, const Placement& placement) {
  if (!may_replace_operators(segment, placement)) return segment;
  return Identities(std::move(segment), placement.manager.operators()).run();
}

}  // namespace paddle_mini
