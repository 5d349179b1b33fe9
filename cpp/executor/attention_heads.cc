// Finds the transposes around each attention.
#include "executor/attention_heads.h"

#include <optional>
#include <set>
#include <utility>

#include "executor/variable_uses.h"

namespace paddle_mini {
namespace {

// An input before its heads became an outer axis.
struct Heads {
  int source, first;  // [batch, words, any, width], and the number of the first head there
};

class HeadsInPlace {
 public:
  HeadsInPlace(Segment segment, const OpTable& operators)
      : segment_(std::move(segment)), operators_(operators), uses_(find_variable_uses(segment_)) {}

  Segment run() {
    std::set<int> removed;
    for (int i = 0; i < static_cast<int>(segment_.ops.size()); ++i)
      if (op(i).desc().type == "attention") change(i, removed);
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    for (int i = 0; i < static_cast<int>(ops.size()); ++i)
      if (!removed.count(i)) segment_.ops.push_back(std::move(ops[static_cast<size_t>(i)]));
    return std::move(segment_);
  }

 private:
  RunOp& op(int i) { return segment_.ops[static_cast<size_t>(i)]; }
  const Shape& shape(int v) const { return segment_.variables[v].info.shape; }

  void change(int at, std::set<int>& removed) {
    const RunOp& attention = op(at);
    if (!attention.copies_after.empty() || std::get<bool>(*attention.desc().attr("keys_by_column"))) return;
    const int q = attention.input("Q"), out = attention.output("Out");
    std::set<int> left_out = {at};
    std::optional<Heads> heads[3];
    const char* ports[] = {"Q", "K", "V"};
    for (int i = 0; i < 3; ++i) {
      heads[i] = heads_of(attention.input(ports[i]), at, left_out);
      if (!heads[i]) return;
    }
    if (!is_link(segment_, uses_, out) || !swaps_axes(op(uses_[out].reader))) return;
    const int last = uses_[out].reader;
    op(last) = in_place(attention, heads, static_cast<int32_t>(shape(q)[1]), op(last).output("Out"));
    removed.insert(left_out.begin(), left_out.end());
  }

  // Whether the operator only exchanges the middle axes of four.
  bool swaps_axes(const RunOp& transpose) const {
    const std::string& type = transpose.desc().type;
    if ((type != "transpose2" && type != "transpose") || !transpose.copies_after.empty()) return false;
    const int shape_of_x = transpose.output("XShape");
    return std::get<std::vector<int32_t>>(*transpose.desc().attr("axis")) == std::vector<int32_t>{0, 2, 1, 3} &&
           (shape_of_x < 0 || (!uses_[shape_of_x].reads && !uses_[shape_of_x].is_needed));
  }

  // The operators that are not needed if attention `reader` reads the source are added to left_out.
  std::optional<Heads> heads_of(int v, int reader, std::set<int>& left_out) {
    if (v < 0 || !is_link(segment_, uses_, v)) return std::nullopt;
    int first = 0;
    const int at = uses_[v].writer;
    const RunOp& split = op(at);
    if (split.desc().type == "split") {
      const int32_t axis = std::get<int32_t>(*split.desc().attr("axis"));
      bool fits = (axis == 1 || axis == -3) && split.input("AxisTensor") < 0 && split.copies_after.empty();
      bool before = true;
      split.outputs.each([&](int part) {
        before &= part != v;
        fits &= is_link(segment_, uses_, part) && uses_[part].reader == reader;
        if (before) first += static_cast<int>(shape(part)[1]);
      });
      v = split.input("X");
      if (!fits || !is_read_by(v, at)) return std::nullopt;
      left_out.insert(at);
    }
    const int transpose = uses_[v].writer;
    if (transpose < 0 || !swaps_axes(op(transpose))) return std::nullopt;
    const int source = op(transpose).input("X");
    if (!is_stable(segment_, uses_, source)) return std::nullopt;
    left_out.insert(transpose);
    return Heads{source, first};
  }

  bool is_read_by(int v, int reader) const { return is_link(segment_, uses_, v) && uses_[v].reader == reader; }

  // In place of the transpose of its result.
  RunOp in_place(const RunOp& attention, const std::optional<Heads> (&heads)[3], int32_t count, int out) {
    auto name = [&](int v) { return std::vector<std::string>{segment_.variables[v].name}; };
    OpDesc desc = attention.desc();
    const std::vector<std::string> masks = desc.input("Mask");
    desc.inputs = {
        {"Q", name(heads[0]->source)}, {"K", name(heads[1]->source)}, {"V", name(heads[2]->source)}, {"Mask", masks}};
    desc.outputs = {{"Out", name(out)}};
    desc.set_attr("heads", count);
    const char* attributes[] = {"first_query", "first_key", "first_value"};
    for (int i = 0; i < 3; ++i) desc.set_attr(attributes[i], static_cast<int32_t>(heads[i]->first));
    const auto mask = attention.inputs[3];
    return replacement_of(
        attention, operators_, std::move(desc),
        {{heads[0]->source}, {heads[1]->source}, {heads[2]->source}, std::vector<int>(mask.begin(), mask.end())},
        {{out}});
  }

  Segment segment_;
  const OpTable& operators_;
  std::vector<VariableUse> uses_;
};

}  // namespace

Segment read_heads_in_place(Segment segment, const Placement& placement) {
  if (!may_replace_operators(segment, placement)) return segment;
  return HeadsInPlace(std::move(segment), placement.manager.operators()).run();
}

}  // namespace paddle_mini
