// Named values: finding, setting, exchanging.
#include "core/scope.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace paddle_mini {

uint64_t Scope::next_id() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

void Scope::require_idle() const {
  require<OpError>(turn_.idle(), "the scope is in use by a run: change it before or after");
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
  if (value.bytes()) std::memmove(variable->tensor.data, value.data, value.bytes());
  if (variable->tensor.lod != value.lod) {
    variable->tensor.lod = value.lod;
    changed();
  }
}

void Scope::swap(const std::string& a, const std::string& b) {
  Variable* first = find(a);
  Variable* second = find(b);
  require<OpError>(first && second, "can't exchange '", printable(a), "' and '", printable(b), "': '",
                   printable(first ? b : a), "' is not in the scope");
  require<ShapeError>(first->info() == second->info(), "can't exchange '", printable(a), "' ", first->info().str(),
                      " and '", printable(b), "' ", second->info().str());
  std::swap(*first, *second);
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> names;
  for (const auto& entry : variables_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace paddle_mini
