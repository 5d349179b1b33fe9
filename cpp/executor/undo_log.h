// undo_log: records what a run changes in a scope, so that a failed run can be rolled back.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/scope.h"

namespace paddle_mini {

// The value of a scope variable before a run.
struct SavedValue {
  explicit SavedValue(Variable* variable);
  Variable* variable;
  Tensor value;               // on the variable's device
  std::vector<int64_t> rows;  // for SelectedRows
  bool is_saved = false;      // in this run

  void save();
  void restore() const;
};

// A variable that was created in the scope.
struct CreatedVariable {
  std::string name;
  std::unique_ptr<Variable> before;  // the replaced variable, or nullptr
};

class UndoLog {
 public:
  explicit UndoLog(Scope& scope) : scope_(scope) {}

  // Creates a variable without a value in the scope. A variable that has the name is kept for the rollback.
  Variable& create(const std::string& name);
  // Saves the value before it is first written. No-op if it is saved already or this log created the variable.
  void save(Variable* variable);
  // Allocates memory for a value that every run of a plan saves. The reference stays valid.
  SavedValue& prepare(Variable* variable);
  void begin_run();  // marks all prepared values as not saved

  // Undoes changes in reverse order, because a variable may be created again after its value was saved.
  void rollback();
  void keep_created();           // commits a successful run
  void take_over(UndoLog& other);  // this log also undoes the changes of `other` from now on

  bool has_created(const Variable* variable) const;
  std::vector<std::pair<std::string, size_t>> created_bytes() const;  // by name, for out-of-memory messages
  std::deque<SavedValue>& prepared() { return prepared_; }
  const std::deque<SavedValue>& prepared() const { return prepared_; }
  size_t prepared_bytes() const;

 private:
  Scope& scope_;
  std::vector<std::variant<CreatedVariable, SavedValue>> entries_;  // in chronological order
  std::set<const Variable*> known_;    // variables that save() skips
  std::deque<SavedValue> prepared_;    // saved after entries_, so undone first
};

}  // namespace paddle_mini
