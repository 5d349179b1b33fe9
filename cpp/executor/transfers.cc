// Chooses the home of each variable and adds transfers to the other places that read it.
#include "executor/transfers.h"

#include <algorithm>
#include <utility>

#include "executor/op_context.h"

namespace paddle_mini {
namespace {

// Every variable has one home; at other places a temporary holds a copy.
class Transfers {
 public:
  Transfers(Segment segment, const OpTable& operators)
      : segment_(std::move(segment)), operators_(operators), copies_(segment_.variables.size()) {}

  Segment run() {
    find_homes();
    std::vector<RunOp> ops = std::exchange(segment_.ops, {});
    // The caller and later segments read host memory. Transfers to the host run in order, so those that the caller
    // waits for are issued as early as possible, before those that it does not wait for.
    std::vector<std::vector<int>> ends(ops.size());
    for (const auto* wanted : {&segment_.fetches, &segment_.live_out}) {
      for (int v : *wanted)
        if (last_write_[v] >= 0) ends[last_write_[v]].push_back(v);
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      add(std::move(ops[i]));
      for (int v : ends[i]) read(v, Place{}, nullptr);
    }
    for (int& v : segment_.fetches) v = read(v, Place{}, nullptr);
    for (int& v : segment_.live_out) v = read(v, Place{}, nullptr);
    std::sort(segment_.live_out.begin(), segment_.live_out.end());
    return std::move(segment_);
  }

 private:
  struct Copy {
    Place place;
    int variable;
    bool is_current;
  };

  bool is_scope_tensor(int v) const {
    return segment_.variables[v].origin == Origin::InScope && segment_.variables[v].info.kind == VarKind::Tensor;
  }

  void find_homes() {
    size_t count = segment_.variables.size();
    std::vector<bool> written(count, false), read(count, false);
    last_write_.assign(count, -1);
    for (size_t i = 0; i < segment_.ops.size(); ++i) {
      const RunOp& op = segment_.ops[i];
      op.inputs.each([&](int v) {
        if (!is_scope_tensor(v) || written[v] || read[v]) return;
        segment_.variables[v].place = op.place;
        read[v] = true;
      });
      auto write = [&](int v) {
        last_write_[v] = static_cast<int>(i);
        bool movable = segment_.variables[v].origin == Origin::Temporary || is_scope_tensor(v);
        if (!movable) return;
        if (is_scope_tensor(v) || !written[v]) segment_.variables[v].place = op.place;
        written[v] = true;
      };
      op.outputs.each(write);
      for (const auto& copy : op.copies_after) write(copy.second);
    }
    for (size_t v = 0; v < count; ++v) copies_[v].push_back({segment_.variables[v].place, static_cast<int>(v), true});
  }

  void add(RunOp op) {
    for (size_t s = 0; s < op.inputs.size(); ++s) {
      bool shape_only = op.schema().reads_only_shape(op.desc().inputs[s].name);
      for (int& v : op.inputs[s]) {
        if (v >= 0) v = shape_only ? copy_at(v, op.place).variable : read(v, op.place, &op);
      }
    }
    op.outputs.each([&](int& v) { v = write(v, op.place); });
    for (auto& [from, to] : op.copies_after) {
      from = copy_at(from, op.place).variable;
      to = write(to, op.place);
    }
    segment_.ops.push_back(std::move(op));
  }

  Copy& copy_at(int v, const Place& place) {
    auto& copies = copies_[v];
    auto found = std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) { return copy.place == place; });
    if (found != copies.end()) return *found;
    RunVariable copy{segment_.variables[v].name, segment_.variables[v].info, Origin::Temporary, place};
    copies.push_back({place, segment_.add(std::move(copy)), false});
    return copies.back();
  }

  int write(int v, const Place& place) {
    int there = copy_at(v, place).variable;
    for (Copy& copy : copies_[v]) copy.is_current = copy.place == place;
    return there;
  }

  // The variable that holds v's value at the place; adds a transfer if necessary. `reader` names the operator in
  // messages.
  int read(int v, const Place& place, const RunOp* reader) {
    Copy there = copy_at(v, place);
    if (there.is_current) return there.variable;
    const auto& copies = copies_[v];
    Copy from = *std::find_if(copies.begin(), copies.end(), [](const Copy& copy) { return copy.is_current; });
    if (!from.place.is_cpu() && !place.is_cpu()) {  // device to device goes through the host
      add_transfer(read(v, Place{}, reader), there.variable, place, false, reader);
    } else {
      add_transfer(from.variable, there.variable, from.place.is_cpu() ? place : from.place, place.is_cpu(), reader);
    }
    copy_at(v, place).is_current = true;
    return there.variable;
  }

  void add_transfer(int from, int to, const Place& device, bool to_host, const RunOp* reader) {
    const OpSchema& schema = operators_.at(to_host ? "memcpy_d2h" : "memcpy_h2d");
    const std::string& name = segment_.variables[from].name;
    OpDesc desc = make_op(schema.type(), {{"X", {name}}}, {{"Out", {name}}});
    if (reader) name_user_of(desc, reader->desc());
    schema.complete(desc);
    RunOp transfer{reader ? reader->index : segment_.end,
                   std::make_shared<VerifiedOp>(VerifiedOp{&schema, std::move(desc)}),
                   {{from}},
                   {{to}}};
    transfer.place = device;
    transfer.lane = to_host ? Lane::ToHost : Lane::ToDevice;
    segment_.ops.push_back(std::move(transfer));
  }

  Segment segment_;
  const OpTable& operators_;
  std::vector<int> last_write_;            // the last operator that writes each variable of the program
  std::vector<std::vector<Copy>> copies_;  // the copies of each variable of the program
};

}  // namespace

Segment add_transfers(Segment segment, const Placement& placement) {
  bool all_on_cpu =
      std::all_of(segment.ops.begin(), segment.ops.end(), [](const RunOp& op) { return op.place.is_cpu(); });
  if (all_on_cpu) return segment;
  return Transfers(std::move(segment), placement.manager.operators()).run();
}

}  // namespace paddle_mini
