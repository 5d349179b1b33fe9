// Implements named values: lookup, assignment, exchange and claims.
#include "core/scope.h"

#include <algorithm>
#include <utility>

#include "core/fork.h"

namespace paddle_mini {

uint64_t Scope::next_id() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

void Scope::synchronize() {
  if (late_error_) std::rethrow_exception(std::exchange(late_error_, nullptr));
  if (!pending_) return;
  require_devices_kept();  // a child of fork() may have copied them in the middle of a run
  std::exchange(pending_, nullptr)->synchronize();
}

bool Scope::Use::try_begin() {
  if (scope_.must_tidy() || !lock_.try_begin(access_)) return false;
  if (scope_.must_tidy()) lock_.end();  // the state has changed since the first check
  if (lock_.has_begun() && !is_shared(access_)) note_exclusive();
  return lock_.has_begun();
}

void Scope::Use::begin(bool (*stop)()) {
  if (lock_.has_begun()) return;
  if (scope_.lock_.used_by_this_thread())
    return lock_.begin(access_);  // throws, or is nested in a use that has done the steps below
  bool alone = true;
  do {
    lock_.end();
    alone = !is_shared(access_) || scope_.must_tidy();
    lock_.begin(alone == !is_shared(access_) ? access_ : is_run(access_) ? Access::Run : Access::Change, stop);
  } while (!alone && scope_.must_tidy());
  if (!alone) return;
  note_exclusive();
  if (!is_run(access_) || scope_.has_left_) scope_.synchronize();  // devices may still use what the claims release
  scope_.end_left_claims();
}

Variable* Scope::find(const std::string& name) const {
  auto it = variables_.find(name);
  return it == variables_.end() ? nullptr : it->second.get();
}

Variable& Scope::create(const std::string& name) {
  if (Variable* found = find(name)) return *found;
  auto variable = std::make_unique<Variable>();  // allocates first: the name must not stay without a variable
  Variable& made = *variable;
  variables_.emplace(name, std::move(variable));
  changed();
  return made;
}

void Scope::erase(const std::string& name) {
  require_unclaimed(name);
  if (variables_.erase(name)) changed();
}

void Scope::set(const std::string& name, const Tensor& value) {
  require_unclaimed(name);
  require_bools(value, name);
  Variable* variable = find(name);
  if (!variable || !fits(*variable, value.dtype, value.shape)) {
    Tensor fresh = new_tensor(value.dtype, value.shape);  // allocates first: it may fail
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

void Scope::set(const std::vector<InParts>& values) {
  std::vector<Tensor> places;  // allocates first: it may fail
  for (const InParts& value : values) {
    require_unclaimed(value.name);
    int64_t elements = 0;
    bool fine = true;
    for (const Tensor& part : value.parts) {
      require_bools(part, value.name);
      fine = fine && part.dtype == value.dtype;
      elements += part.shape.numel();
    }
    require<ShapeError>(fine && elements == value.shape.numel(), "'", printable(value.name), "': parts of ", elements,
                        " elements are not a value of shape ", value.shape.str());
    const Variable* variable = find(value.name);
    bool has_room = variable && fits(*variable, value.dtype, value.shape);
    places.push_back(has_room ? variable->tensor : new_tensor(value.dtype, value.shape));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    Tensor slice = places[i];
    for (const Tensor& part : values[i].parts) {
      slice.shape = part.shape;
      copy_bytes(part, slice);
      slice.data = static_cast<char*>(slice.data) + part.bytes();
    }
    Variable& variable = create(values[i].name);
    if (variable.tensor.data == places[i].data && variable.tensor.lod.empty()) continue;
    places[i].lod.clear();
    variable = Variable{};
    variable.tensor = places[i];
    changed();
  }
}

void Scope::give(Variable& variable, Tensor value) {
  if (!fits(variable, value.dtype, value.shape)) {
    variable = Variable{};
    variable.tensor = std::move(value);
    return changed();
  }
  copy_bytes(value, variable.tensor);
  if (variable.tensor.lod == value.lod) return;
  variable.tensor.lod = std::move(value.lod);
  changed();
}

bool Scope::fits(const Variable& variable, DType dtype, const Shape& shape) {
  const Tensor& now = variable.tensor;
  return variable.kind == VarKind::Tensor && variable.has_value() && now.dtype == dtype && now.shape == shape &&
         !shared_.has(now);
}

void Scope::stop_sharing(const std::set<std::string>& names) {
  if (shared_.empty()) return;
  for (const std::string& name : names) {
    Variable* variable = find(name);
    if (!variable || !shared_.has(variable->tensor)) continue;
    synchronize();  // steps of devices may still read it
    Tensor own = new_tensor(variable->tensor.dtype, variable->tensor.shape);
    own.lod = variable->tensor.lod;
    copy_bytes(variable->tensor, own);
    variable->tensor = std::move(own);
    changed();  // devices have recorded its address
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
  std::set<std::string> names;
  for (const Exchange& one : exchanges) {
    for (const std::string* name : {&one.name, &one.by, &one.keep}) {
      require<OpError>(name->empty() || names.insert(*name).second, "can't exchange '", printable(one.name), "' and '",
                       printable(one.by), "': '", printable(*name), "' is named twice");
    }
    require_alike(one.name, one.by);
    require<OpError>(one.keep.empty() || !find(one.keep), "can't keep '", printable(one.name), "' as '",
                     printable(one.keep), "': a variable with this name exists");
  }
  for (const Exchange& one : exchanges) {
    auto by = variables_.find(one.by);
    std::swap(*find(one.name), *by->second);
    if (!one.keep.empty()) variables_[one.keep] = std::move(by->second);
    variables_.erase(one.by);
  }
  changed();
}

uint64_t Scope::claim(std::vector<Exchange> names) {
  for (const Exchange& one : names) {
    bool claimed = std::any_of(claims_.begin(), claims_.end(), [&](const Claim& claim) { return claim.has(one.name); });
    require<ScopeInUse>(!claimed && !find(one.keep), "averages are applied already: '", printable(one.name),
                        "' holds one; leave that apply(), or call restore(), first");
  }
  {
    std::lock_guard<std::mutex> lock(left_mutex_);
    left_.reserve(claims_.size() + 1);  // so that leave_claim() never allocates
  }
  claims_.push_back({next_id(), std::move(names)});
  return claims_.back().id;
}

bool Scope::has_claim(uint64_t id) const {
  return std::any_of(claims_.begin(), claims_.end(), [&](const Claim& one) { return one.id == id; });
}

void Scope::substitute(uint64_t id) {
  auto claim = std::find_if(claims_.begin(), claims_.end(), [&](const Claim& one) { return one.id == id; });
  require<ScopeInUse>(claim != claims_.end(), "averages were taken away by restore() before they were applied");
  exchange(claim->names);
}

void Scope::end_claim(uint64_t id) {
  auto claim = std::find_if(claims_.begin(), claims_.end(), [&](const Claim& one) { return one.id == id; });
  if (claim == claims_.end()) return;
  for (const Exchange& one : claim->names) take_back(one);
  claims_.erase(claim);
}

void Scope::leave_claim(uint64_t id) noexcept {
  std::lock_guard<std::mutex> lock(left_mutex_);
  left_.push_back(id);
  has_left_ = true;
}

void Scope::end_left_claims() {
  if (!has_left_) return;
  std::lock_guard<std::mutex> lock(left_mutex_);
  while (!left_.empty()) {
    end_claim(left_.back());  // if this throws, the next use tries again
    left_.pop_back();
  }
  has_left_ = false;
}

void Scope::restore(const std::vector<Exchange>& names) {
  for (size_t i = claims_.size(); i-- > 0;) {
    bool touched =
        std::any_of(names.begin(), names.end(), [&](const Exchange& one) { return claims_[i].has(one.name); });
    if (touched) end_claim(claims_[i].id);
  }
  for (const Exchange& one : names) take_back(one);
}

// If the name is not substituted, only erases `by`.
void Scope::take_back(const Exchange& one) {
  auto kept = variables_.find(one.keep);
  if (kept != variables_.end()) {
    std::swap(create(one.name), *kept->second);
    variables_.erase(kept);
  }
  variables_.erase(one.by);
  changed();
}

bool Scope::Claim::has(const std::string& name) const {
  return std::any_of(names.begin(), names.end(),
                     [&](const Exchange& one) { return one.name == name || one.keep == name; });
}

void Scope::require_unclaimed(const std::string& name) const {
  bool claimed = std::any_of(claims_.begin(), claims_.end(), [&](const Claim& claim) { return claim.has(name); });
  if (!claimed) return;  // before the message is made: variables are erased where no memory is left
  fail<ScopeInUse>("'", printable(name),
                   "' can't be changed while averages are applied: leave that apply(), or call restore(), first");
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> names;
  for (const auto& entry : variables_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace paddle_mini
