// Keeping and putting back values of the scope; and adding up times.
#include "executor/changes.h"

#include <algorithm>

#include "core/error.h"

namespace paddle_mini {

Backup::Backup(Variable* variable)
    : variable(variable), kept(new_tensor(variable->tensor.dtype, variable->tensor.shape, variable->tensor.device)) {}

void Backup::keep() {
  kept.shape = variable->tensor.shape;
  copy_bytes(variable->tensor, kept);
  if (variable->is_rows()) rows = variable->rows;
  is_kept = true;
}

void Backup::put_back() const {
  if (variable->is_rows()) variable->set_rows(rows);
  copy_bytes(kept, variable->tensor);
}

void take_back(std::vector<Made>& made, Scope& scope) {
  for (auto it = made.rbegin(); it != made.rend(); ++it) {
    if (it->before) *scope.find(it->name) = *it->before;
    else scope.erase(it->name);
    scope.changed();
  }
  made.clear();
}

void Changes::keep(Variable* variable) {
  if (!kept_.insert(variable).second) return;
  backups_.emplace_back(variable);
  backups_.back().keep();
}

void Changes::note_made(std::vector<Made> made, const Scope& scope) {
  for (Made& one : made) {
    kept_.insert(scope.find(one.name));
    made_.push_back(std::move(one));
  }
}

void Changes::undo(Scope& scope) {
  if (made_.empty() && backups_.empty()) return;  // others may be reading the scope
  take_back(made_, scope);  // first: a variable that was kept may have been made anew since, with another shape
  for (const Backup& backup : backups_) backup.put_back();
  backups_.clear();
  kept_.clear();
  scope.changed();  // plans must look again: rows and sequences may be others
}

void OpTimes::add(const std::string& type, double microseconds) {
  Row& row = rows_[type];
  row.total += microseconds;
  ++row.count;
}

std::string OpTimes::text() const {
  double all = 0;
  int steps = 0;
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [type, row] : rows_) {
    all += row.total;
    steps += row.count;
    lines.emplace_back(-row.total, paddle_mini::text(row.total, " us  ", type, " x ", row.count, "\n"));
  }
  std::sort(lines.begin(), lines.end());
  std::string out = paddle_mini::text(all, " us in ", steps, " steps\n");
  for (const auto& line : lines) out += "  " + line.second;
  return out;
}

}  // namespace paddle_mini
