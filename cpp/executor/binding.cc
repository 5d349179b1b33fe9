// Binds the variables of a segment to a scope: creates new ones and looks up existing ones.
#include "executor/binding.h"

#include <set>

#include "executor/memory_report.h"

namespace paddle_mini {

Binding::Binding(const Segment& segment, const Placement& placement, Scope& scope, UndoLog& undo)
    : segment_(segment), placement_(placement), scope_(scope) {
  try {
    std::set<int> written;
    for (const RunOp& op : segment.ops) op.outputs.each([&](int v) { written.insert(v); });
    std::map<Place, std::vector<Variable*>> fresh;
    for (size_t v = 0; v < segment.variables.size(); ++v) {
      const RunVariable& run = segment.variables[v];
      Device* device = device_at(run.place);
      Variable* held = run.origin == Origin::InScope ? scope.find(run.name) : nullptr;
      if (run.origin == Origin::InScope && !(held && held->has_value() && held->info() == run.info)) {
        require<OpError>(written.count(static_cast<int>(v)), "'", run.name, "' has no value in the scope");
        held = &undo.create(run.name);
        held->describe(run.info);
        fresh[run.place].push_back(held);
      }
      if (run.derived) {
        variables_.push_back(run.derived.get());
        in_scope_.push_back(nullptr);
        locations_.push_back({device, variables_.back(), nullptr});
        continue;
      }
      if (!held || device) {  // kernels use device->address(data), so they get a separate Variable
        own_.emplace_back();
        own_.back().describe(run.info);
      }
      variables_.push_back(held && !device ? held : &own_.back());
      in_scope_.push_back(held);
      locations_.push_back({device, variables_.back(), nullptr});
      if (held && held->is_rows()) row_counts_.emplace_back(held, 0);
    }
    for (const auto& [place, variables] : fresh) give_memory(variables, device_at(place), undo);
    for (auto& [variable, count] : row_counts_) count = variable->rows.size();
    move_to_devices();
  } catch (...) {
    undo.rollback();
    throw;
  }
}

Device* Binding::device_at(const Place& place) const {
  return place.is_cpu() ? nullptr : placement_.manager.at(place).device.get();
}

std::vector<std::vector<Variable*>> Binding::variables(const Ports& ports) const {
  std::vector<std::vector<Variable*>> result;
  for (const auto& slot : ports) {
    result.emplace_back();
    for (int v : slot) result.back().push_back(v < 0 ? nullptr : variables_[v]);
  }
  return result;
}

// Variables that one program creates live equally long, so they share one allocation: many of them together fill large
// pages (memory.cc), for which each alone is too small.
void Binding::give_memory(const std::vector<Variable*>& variables, Device* device, const UndoLog& undo) {
  size_t total = 0;
  for (Variable* variable : variables) total = checked_sum(total, aligned(variable->tensor.bytes()));
  std::shared_ptr<void> block;
  try {
    block = device ? device->allocate(total) : allocate(total);
  } catch (const DeviceError& error) {
    std::vector<LargeAllocation> allocations;
    for (const auto& [name, bytes] : undo.created_bytes()) allocations.push_back({name, bytes});
    throw DeviceError(with_memory_report(error.what(), std::move(allocations), scope_, device));
  }
  char* next = static_cast<char*>(block.get());
  for (Variable* variable : variables) {
    variable->tensor.memory = std::shared_ptr<void>(block, next);
    variable->tensor.data = next;
    variable->tensor.device = device;
    next += aligned(variable->tensor.bytes());
  }
}

bool Binding::move_to_devices() {
  if (moved_generation_ == scope_.generation()) return false;
  for (size_t v = 0; v < in_scope_.size(); ++v) {
    if (!in_scope_[v]) continue;
    Tensor& tensor = in_scope_[v]->tensor;
    Device* device = locations_[v].device;
    if (tensor.device != device) {
      Tensor moved = new_tensor(tensor.dtype, tensor.shape, device);
      moved.lod = tensor.lod;
      copy_bytes(tensor, moved);
      tensor = std::move(moved);
      scope_.changed();  // other plans must look up its location again
    }
    if (device) {
      scope_.note_devices();
      locations_[v].bind(tensor.data);
    }
  }
  moved_generation_ = scope_.generation();
  return true;
}

// Compares without building a VarInfo, which may hold long lists.
bool Binding::fits(const Variable& there, const VarInfo& info) {
  if (there.is_rows() || info.kind == VarKind::SelectedRows) return there.info() == info;
  return there.kind == info.kind && there.tensor.dtype == info.dtype && there.tensor.shape == info.shape &&
         there.tensor.lod == info.lod;
}

bool Binding::fits(const Scope& scope) const {
  if (generation_ == scope.generation()) return true;
  for (size_t v = 0; v < in_scope_.size(); ++v) {
    if (!in_scope_[v]) continue;
    Variable* held = scope.find(segment_.variables[v].name);
    if (held != in_scope_[v] || !held->has_value() || !fits(*held, segment_.variables[v].info)) return false;
  }
  generation_ = scope.generation();
  return true;
}

bool Binding::fits(const std::vector<Tensor>& feeds) const {
  if (feeds.size() != segment_.feeds.size()) return false;
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Tensor& planned = variables_[segment_.feeds[i]]->tensor;
    if (feeds[i].dtype != planned.dtype || feeds[i].shape != planned.shape || feeds[i].lod != planned.lod) return false;
  }
  return true;
}

bool Binding::fits(Frame& frame) const {
  for (int v : segment_.live_in) {
    const Variable* there = frame.find(segment_.variables[v].name);
    if (!there || !there->has_value() || !fits(*there, segment_.variables[v].info)) return false;
  }
  return true;
}

void Binding::bind_values(const std::vector<Tensor>& feeds, Frame& frame) {
  for (size_t i = 0; i < feeds.size(); ++i) variables_[segment_.feeds[i]]->tensor.data = feeds[i].data;
  for (int v : segment_.live_in) {
    const Variable& there = *frame.find(segment_.variables[v].name);
    if (there.kind == VarKind::Tensor) variables_[v]->tensor.data = there.tensor.data;
    else *variables_[v] = there;
  }
  for (int v : segment_.live_out) {
    Tensor& tensor = variables_[v]->tensor;
    size_t rows = variables_[v]->is_rows() ? static_cast<size_t>(segment_.variables[v].info.row_count) : 0;
    if (rows) tensor.shape[0] = static_cast<int64_t>(rows);
    tensor.memory = allocate(tensor.bytes());
    tensor.data = tensor.memory.get();
  }
}

void Binding::note_row_counts() {
  for (auto& [variable, count] : row_counts_) {
    if (variable->rows.size() == count) continue;
    count = variable->rows.size();
    scope_.changed();
  }
}

}  // namespace paddle_mini
