// Saves and restores values of a scope.
#include "executor/undo_log.h"

namespace paddle_mini {

SavedValue::SavedValue(Variable* variable)
    : variable(variable), value(new_tensor(variable->tensor.dtype, variable->tensor.shape, variable->tensor.device)) {}

void SavedValue::save() {
  value.shape = variable->tensor.shape;
  copy_bytes(variable->tensor, value);
  if (variable->is_rows()) rows = variable->rows;
  is_saved = true;
}

void SavedValue::restore() const {
  if (variable->is_rows()) variable->set_rows(rows);
  copy_bytes(value, variable->tensor);
}

Variable& UndoLog::create(const std::string& name) {
  Variable* held = scope_.find(name);
  entries_.push_back(CreatedVariable{name, held ? std::make_unique<Variable>(*held) : nullptr});
  Variable& variable = scope_.create(name);
  known_.insert(&variable);
  variable = Variable();
  scope_.changed();
  return variable;
}

void UndoLog::save(Variable* variable) {
  if (!known_.insert(variable).second) return;
  SavedValue value(variable);
  value.save();
  entries_.push_back(std::move(value));
}

SavedValue& UndoLog::prepare(Variable* variable) {
  prepared_.emplace_back(variable);
  return prepared_.back();
}

void UndoLog::begin_run() {
  for (SavedValue& value : prepared_) value.is_saved = false;
}

void UndoLog::rollback() {
  for (SavedValue& value : prepared_) {
    if (value.is_saved) value.restore();
  }
  if (entries_.empty()) return;  // do not modify the scope: others may be reading it
  for (; !entries_.empty(); entries_.pop_back()) {
    if (auto* saved = std::get_if<SavedValue>(&entries_.back())) {
      saved->restore();
      continue;
    }
    auto& created = std::get<CreatedVariable>(entries_.back());
    if (created.before) *scope_.find(created.name) = *created.before;
    else scope_.erase(created.name);
  }
  known_.clear();
  scope_.changed();  // invalidates plans: rows and sequences may differ
}

void UndoLog::keep_created() {
  entries_.clear();
  known_.clear();
}

void UndoLog::take_over(UndoLog& other) {
  for (auto& entry : other.entries_) {
    if (auto* created = std::get_if<CreatedVariable>(&entry)) known_.insert(scope_.find(created->name));
    entries_.push_back(std::move(entry));
  }
  other.keep_created();
}

bool UndoLog::has_created(const Variable* variable) const { return known_.count(variable) > 0; }

std::vector<std::pair<std::string, size_t>> UndoLog::created_bytes() const {
  std::vector<std::pair<std::string, size_t>> bytes;
  for (const auto& entry : entries_) {
    auto* created = std::get_if<CreatedVariable>(&entry);
    if (created) bytes.emplace_back(created->name, scope_.find(created->name)->tensor.bytes());
  }
  return bytes;
}

size_t UndoLog::prepared_bytes() const {
  size_t bytes = 0;
  for (const SavedValue& value : prepared_) bytes += value.value.bytes();
  return bytes;
}

}  // namespace paddle_mini
