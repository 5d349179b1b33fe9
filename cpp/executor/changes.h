// What a run changes in the scope, so that a run that fails leaves it as it was.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/scope.h"

namespace paddle_mini {

// The value that a variable of the scope had.
struct Backup {
  explicit Backup(Variable* variable);
  Variable* variable;
  Tensor kept;                // on the variable's device
  std::vector<int64_t> rows;  // of SelectedRows
  bool is_kept = false;       // in this run

  void keep();
  void put_back() const;
};

// A variable that was made in the scope.
struct Made {
  std::string name;
  std::unique_ptr<Variable> before;  // none: the scope had no such variable
};

// Puts back what the scope held; in reverse, since a name may have been made more than once.
void take_back(std::vector<Made>& made, Scope& scope);

// Of a run in parts, each of which may be the one that fails.
class Changes {
 public:
  void keep(Variable* variable);  // before it is written; only the first time counts
  void note_made(std::vector<Made> made, const Scope& scope);  // the scope has them already
  void undo(Scope& scope);

 private:
  std::vector<Backup> backups_;
  std::set<Variable*> kept_;  // or made: what `before` holds is not written any more
  std::vector<Made> made_;
};

// Microseconds by type of operator.
class OpTimes {
 public:
  void add(const std::string& type, double microseconds);
  std::string text() const;  // the longest first

 private:
  struct Row {
    double total = 0;
    int count = 0;
  };
  std::map<std::string, Row> rows_;
};

}  // namespace paddle_mini
