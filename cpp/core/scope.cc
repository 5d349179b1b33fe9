// Named values: finding, setting, exchanging.
#include "core/scope.h"

#include <algorithm>
#include <utility>

namespace paddle_mini {

uint64_t Scope::next_id() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

void Scope::require_idle() const {
  require<OpError>(turn_.idle(), "the scope is in use by a run: change it before or after");
}

void Scope::settle() {
  if (late_error_) std::rethrow_exception(std::exchange(late_error_, nullptr));
  if (Pending* pending = std::exchange(pending_, nullptr)) pending->settle();
}

Variable* Scope::find(const std::string& name) const {
  auto it = variables_.find(name);
  return it == variables_.end() ? nullptr : it->second.get();
}

Variable& Scope::create(const std::string& name) {
  auto& variable = variables_[name];
  if (!variable) {
    variable = std::make_unique<Variable>();
    changed();
  }
  return *variable;
}

void Scope::erase(const std::string& name) {
  if (variables_.erase(name)) changed();
}

void Scope::set(const std::string& name, const Tensor& value) {
  Variable* variable = find(name);
  bool fits = variable && variable->has_value() && variable->kind == VarKind::Tensor &&
              variable->tensor.dtype == value.dtype && variable->tensor.shape == value.shape;
  if (!fits) {
    Tensor fresh = new_tensor(value.dtype, value.shape);  // may fail: before anything is changed
    variable = &create(name);
    *variable = Variable{};
    variable->tensor = fresh;
    changed();
  }
  copy_bytes(value, variable->tensor);
  if (variable->tensor.lod != value.lod) {
    variable->tensor.lod = value.lod;
    changed();
  }
}

void Scope::require_alike(const std::string& a, const std::string& b) const {
  Variable *first = find(a), *second = find(b);
  require<OpError>(first && second, "can't exchange '", printable(a), "' and '", printable(b), "': '",
                   printable(first ? b : a), "' is not in the scope");
  require<ShapeError>(first->info() == second->info(), "can't exchange '", printable(a), "' ", first->info().str(),
                      " and '", printable(b), "' ", second->info().str());
}

void Scope::exchange(const std::vector<Exchange>& exchanges) {
  for (const Exchange& one : exchanges) {
    require_alike(one.name, one.by);
    require<OpError>(one.keep.empty() || !find(one.keep), "can't keep '", printable(one.name), "' as '",
                     printable(one.keep), "': there is such a variable");
  }
  for (const Exchange& one : exchanges) {
    auto by = variables_.find(one.by);
    std::swap(*find(one.name), *by->second);
    if (!one.keep.empty()) variables_[one.keep] = std::move(by->second);
    variables_.erase(one.by);
  }
  changed();
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> names;
  for (const auto& entry : variables_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace paddle_mini
