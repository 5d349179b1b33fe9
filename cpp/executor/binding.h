// binding: the variables of a segment in a scope, and on which device each of them lies.
#pragma once

#include <deque>

#include "core/frame.h"
#include "executor/place.h"
#include "executor/step_kernels.h"
#include "executor/undo_log.h"

namespace paddle_mini {

class Binding {
 public:
  // Variables that the segment makes in the scope are created, which `undo` notes. Those of it that lie on other devices
  // than the segment needs are moved. Throws without a trace in the scope. Segment and scope must outlive the binding.
  Binding(const Segment& segment, const Placement& placement, Scope& scope, UndoLog& undo);

  Variable* variable(int v) const { return variables_[v]; }  // what kernels are given
  Variable* in_scope(int v) const { return in_scope_[v]; }   // the scope's; nullptr for others
  Location& location(int v) { return locations_[v]; }
  const Location& location(int v) const { return locations_[v]; }
  Accelerator* device_at(const Place& place) const;  // nullptr: the host
  std::vector<std::vector<Variable*>> variables(const Ports& ports) const;

  // Whether these still are what the segment was made for.
  bool fits(const Scope& scope) const;
  bool fits(const std::vector<Tensor>& feeds) const;
  bool fits(Frame& frame) const;

  // Before a run: the callers' arrays, in the order of the feeds; values of the frame; new memory for what goes into it.
  void bind_values(const std::vector<Tensor>& feeds, Frame& frame);
  // Moves values that lie elsewhere, because the user or another program put them there, to where this segment needs them.
  // True when addresses may have changed.
  bool move_to_devices();
  // Other plans were made for the number of rows that there was: they must look again.
  void note_row_counts();
  void accept_scope() { generation_ = scope_.generation(); }  // as it is now it fits

 private:
  void give_memory(const std::vector<Variable*>& variables, Accelerator* device, const UndoLog& undo);
  static bool fits(const Variable& there, const VarInfo& info);

  const Segment& segment_;
  const Placement& placement_;
  Scope& scope_;
  std::deque<Variable> own_;          // temporaries, feeds, and what stands for variables of the scope on devices
  std::vector<Variable*> variables_;
  std::vector<Variable*> in_scope_;
  std::vector<Location> locations_;
  std::vector<std::pair<Variable*, size_t>> row_counts_;  // SelectedRows of the scope, and how many rows they had
  mutable uint64_t generation_ = 0;   // of the scope when all of it was seen to fit
  uint64_t moved_generation_ = 0;     // and when all values were seen on their devices
};

}  // namespace paddle_mini
