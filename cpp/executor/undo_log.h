// undo_log: what a run changes in a scope, so that a run that fails leaves the scope as it was.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/scope.h"

namespace paddle_mini {

// The value that a variable of the scope had before a run.
struct SavedValue {
  explicit SavedValue(Variable* variable);
  Variable* variable;
  Tensor value;               // on the variable's device
  std::vector<int64_t> rows;  // of SelectedRows
  bool is_saved = false;      // in this run

  void save();
  void restore() const;
};

// A variable that was made in the scope.
struct CreatedVariable {
  std::string name;
  std::unique_ptr<Variable> before;  // nullptr: the scope had no such variable
};

class UndoLog {
 public:
  explicit UndoLog(Scope& scope) : scope_(scope) {}

  // The variable, new in the scope and without a value. What has the name already is kept for rollback.
  Variable& create(const std::string& name);
  // Saves the value now, before it is written. Only the first time counts, and not for variables that this log created.
  void save(Variable* variable);
  // Allocates memory for a value that every run of a plan saves. The result stays where it is.
  SavedValue& prepare(Variable* variable);
  void begin_run();  // none of the prepared values is saved yet

  // The newest change first, because a variable may have been created again after its value was saved.
  void rollback();
  void keep_created();           // a run has succeeded: what it created stays
  void take_over(UndoLog& other);  // what `other` created is undone with this log from now on

  bool has_created(const Variable* variable) const;
  std::vector<std::pair<std::string, size_t>> created_bytes() const;  // of each name; for messages about memory
  std::deque<SavedValue>& prepared() { return prepared_; }
  const std::deque<SavedValue>& prepared() const { return prepared_; }
  size_t prepared_bytes() const;

 private:
  Scope& scope_;
  std::vector<std::variant<CreatedVariable, SavedValue>> entries_;  // the oldest first
  std::set<const Variable*> known_;    // that save() need not save
  std::deque<SavedValue> prepared_;    // saved after everything in entries_
};

}  // namespace paddle_mini
