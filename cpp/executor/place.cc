// Stage 3: device, dtype and kernel of each operator, and the transfers between devices.
#include "executor/place.h"

#include <algorithm>
#include <iostream>

#include "core/widening.h"
#include "executor/kernel_dtypes.h"
#include "executor/site.h"
#include "executor/widen.h"

namespace paddle_mini {
namespace {

Place wanted_place(const OpDesc& op, const Place& preset) {
  const AttrValue* device = op.attr("op_device");
  const std::string* spelling = device ? std::get_if<std::string>(device) : nullptr;
  return spelling && !spelling->empty() ? parse_place(*spelling) : preset;
}

bool has_rows(const std::vector<std::vector<VarInfo>>& ports) {
  for (const auto& slot : ports) for (const VarInfo& info : slot) if (info.kind == VarKind::SelectedRows) return true;
  return false;
}

// What is missing for the operator to run on this GPU: "no kernel on gpu:0: it walks sequences"; or "".
std::string missing_on(const Place& place, const OpSpec& spec, const OpSpec* there, DType dtype, bool rows) {
  std::string none = "no kernel on " + name_of(place) + ": ";
  if (rows) return none + "selected rows are worked on by the processor only";
  if (!there) return none + (spec.cpu_only_reason().empty() ? "nobody has written one" : spec.cpu_only_reason());
  if (there->kernel(dtype)) return "";
  return text("no kernel for ", name_of(dtype), " on ", name_of(place), ": there are kernels for ", list_kernel_dtypes(*there));
}

// Puts in the transfers. Every variable has one home; what else of it is needed elsewhere is a temporary of its own.
class Transfers {
 public:
  Transfers(InferredProgram& program, std::vector<PlacedOp> placed, const OpTable& operators)
      : program_(program), placed_(std::move(placed)), operators_(operators), copies_(program.variables.size()) {}

  std::vector<PlacedOp> run() {
    find_homes();
    std::vector<RunOp> ops = std::move(program_.ops);
    program_.ops.clear();
    // The caller, and whoever goes on after this stretch, looks at the host's memory. Transfers to it are made in order,
    // so what the caller waits for must not come behind what nobody waits for.
    std::vector<std::vector<int>> ends(ops.size());
    for (const auto* wanted : {&program_.fetches, &program_.carried}) {
      for (int v : *wanted) if (last_write_[v] >= 0) ends[last_write_[v]].push_back(v);
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      add(std::move(ops[i]), placed_[i]);
      for (int v : ends[i]) read(v, Place{}, nullptr);
    }
    for (int& v : program_.fetches) v = read(v, Place{}, nullptr);
    for (int& v : program_.carried) v = read(v, Place{}, nullptr);
    std::sort(program_.carried.begin(), program_.carried.end());
    return std::move(result_);
  }

 private:
  struct Copy {
    Place place;
    int variable;
    bool is_current;
  };

  void find_homes() {
    std::vector<bool> written(program_.variables.size(), false), read(program_.variables.size(), false);
    last_write_.assign(program_.variables.size(), -1);
    auto may_move = [&](int v) { return v >= 0 && program_.variables[v].origin != Origin::Fed; };
    auto is_scope_tensor = [&](int v) {
      return program_.variables[v].origin == Origin::InScope && program_.variables[v].info.kind == VarKind::Tensor;
    };
    auto write = [&](int v, const Place& place) {
      if (!may_move(v) || (program_.variables[v].origin == Origin::InScope && !is_scope_tensor(v))) return;
      bool last_counts = is_scope_tensor(v);
      if (last_counts || !written[v]) program_.variables[v].place = place;
      written[v] = true;
    };
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const RunOp& op = program_.ops[i];
      for (const auto& slot : op.inputs) {
        for (int v : slot) {
          if (!may_move(v) || !is_scope_tensor(v) || written[v] || read[v]) continue;
          program_.variables[v].place = placed_[i].place;
          read[v] = true;
        }
      }
      auto write_here = [&](int v) {
        write(v, placed_[i].place);
        if (v >= 0) last_write_[v] = static_cast<int>(i);
      };
      for (const auto& slot : op.outputs) for (int v : slot) write_here(v);
      for (const auto& copy : op.copies_after) write_here(copy.second);
    }
    for (size_t v = 0; v < copies_.size(); ++v) copies_[v].push_back({program_.variables[v].place, static_cast<int>(v), true});
  }

  void add(RunOp op, const PlacedOp& placed) {
    for (size_t s = 0; s < op.inputs.size(); ++s) {
      bool shape_only = op.op->spec->reads_only_shape(op.op->desc.inputs[s].name);
      for (int& v : op.inputs[s]) {
        if (v >= 0) v = shape_only ? program_copy(v, placed.place).variable : read(v, placed.place, &op);
      }
    }
    for (auto& slot : op.outputs) for (int& v : slot) if (v >= 0) v = write(v, placed.place);
    for (auto& [from, to] : op.copies_after) {
      from = program_copy(from, placed.place).variable;
      to = write(to, placed.place);
    }
    program_.ops.push_back(std::move(op));
    result_.push_back(placed);
  }

  Copy& program_copy(int v, const Place& place) {
    auto& copies = copies_[v];
    auto found = std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) { return copy.place == place; });
    if (found != copies.end()) return *found;
    const RunVariable& source = program_.variables[v];
    program_.variables.push_back({source.name, source.info, Origin::Temporary, place});
    copies.push_back({place, static_cast<int>(program_.variables.size()) - 1, false});
    return copies.back();
  }

  int write(int v, const Place& place) {
    int there = program_copy(v, place).variable;
    for (Copy& copy : copies_[v]) copy.is_current = copy.place == place;
    return there;
  }

  // The variable that holds v's value at the place, brought there if need be. `reader` names the operator in messages.
  int read(int v, const Place& place, const RunOp* reader) {
    Copy there = program_copy(v, place);
    if (there.is_current) return there.variable;
    const auto& copies = copies_[v];
    auto from = std::find_if(copies.begin(), copies.end(), [](const Copy& copy) { return copy.is_current; });
    if (!from->place.is_cpu() && !place.is_cpu()) {  // from device to device by way of the host
      read(v, Place{}, reader);
      return read(v, place, reader);
    }
    add_transfer(from->variable, there.variable, from->place.is_cpu() ? place : from->place, place.is_cpu(), reader);
    program_copy(v, place).is_current = true;
    return there.variable;
  }

  void add_transfer(int from, int to, const Place& device, bool to_host, const RunOp* reader) {
    const OpSpec& spec = operators_.at(to_host ? "memcpy_d2h" : "memcpy_h2d");
    const std::string& name = program_.variables[from].name;
    OpDesc desc = make_op(spec.type(), {{"X", {name}}}, {{"Out", {name}}});
    spec.complete(desc);
    program_.added.push_back({&spec, std::move(desc)});
    program_.ops.push_back({reader ? reader->index : program_.end, &program_.added.back(), {{from}}, {{to}}, {}});
    result_.push_back({device, program_.variables[from].info.dtype, nullptr, to_host ? Lane::ToHost : Lane::ToDevice});
  }

  InferredProgram& program_;
  std::vector<PlacedOp> placed_, result_;
  const OpTable& operators_;
  std::vector<int> last_write_;            // of each variable of the program: by which operator
  std::vector<std::vector<Copy>> copies_;  // of each variable of the program: where there is memory for it
};

}  // namespace

PlacedOp place_on_host(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                       const std::vector<std::vector<VarInfo>>& outputs) {
  DType dtype = op.spec->kernel_dtype(op.desc, inputs, outputs);
  KernelFactory make = op.spec->kernel(dtype);
  require<OpError>(make, "no kernel for ", name_of(dtype), " on cpu; there are kernels for ", list_kernel_dtypes(*op.spec));
  return {Place{}, dtype, make};
}

PlacedOp place_op(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                  const std::vector<std::vector<VarInfo>>& outputs, const Placement& placement) {
  Place place = wanted_place(op.desc, placement.place);
  PlacedOp on_host = place_on_host(op, inputs, outputs);
  if (place.is_cpu()) return on_host;
  const OpTable& operators = placement.machine.at(place).device->operators();
  DType dtype = on_host.dtype;
  if (&operators == &placement.machine.operators()) return {place, dtype, on_host.make};
  const OpSpec* there = operators.find(op.desc.type);
  std::string missing = missing_on(place, *op.spec, there, dtype, has_rows(inputs) || has_rows(outputs));
  if (missing.empty()) return {place, dtype, there->kernel(dtype)};
  require<DeviceError>(placement.cpu_fallback, missing, "; there is one on cpu. Set op_device to \"cpu\" (device_guard), or let the executor do that: "
                       "allow_cpu_fallback=True");
  return on_host;
}

std::vector<PlacedOp> place_ops(InferredProgram& program, const Placement& placement) {
  widen(program, placement.machine.operators());
  std::vector<PlacedOp> placed;
  placed.reserve(program.ops.size());
  std::map<std::string, int> moved;
  bool all_on_cpu = true;
  for (const RunOp& run : program.ops) {
    auto inputs = infos_of(program, run.inputs);
    at_op({run.op->desc, run.index, program.block, &inputs},
          [&] { placed.push_back(place_op(*run.op, inputs, infos_of(program, run.outputs), placement)); });
    all_on_cpu &= placed.back().place.is_cpu();
    if (placed.back().place != wanted_place(run.op->desc, placement.place)) ++moved[run.op->desc.type];
  }
  if (!moved.empty()) {
    std::string list;
    for (const auto& [type, count] : moved) list += text(list.empty() ? "" : ", ", type, " x ", count);
    std::cerr << "paddle_mini: operators without kernel on " << name_of(placement.place) << " run on the cpu: " << list << "\n";
  }
  if (all_on_cpu) return placed;
  return Transfers(program, std::move(placed), placement.machine.operators()).run();
}

}  // namespace paddle_mini
