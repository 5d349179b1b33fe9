// binding: maps the variables of a segment to variables of a scope and to their devices.
#pragma once

#include <deque>

#include "core/frame.h"
#include "executor/place.h"
#include "executor/step_kernels.h"
#include "executor/undo_log.h"

namespace paddle_mini {

class Binding {
 public:
  // Creates the variables that the segment adds to the scope, and records them in `undo`. Moves existing ones that lie
  // on other devices than the segment needs. On an error the scope is unchanged. Segment and scope must outlive the
  // binding.
  Binding(const Segment& segment, const Placement& placement, Scope& scope, UndoLog& undo);

  Variable* variable(int v) const { return variables_[v]; }  // passed to kernels
  Variable* in_scope(int v) const { return in_scope_[v]; }   // the scope's variable; nullptr for others
  Location& location(int v) { return locations_[v]; }
  const Location& location(int v) const { return locations_[v]; }
  Device* device_at(const Place& place) const;  // nullptr: the host
  std::vector<std::vector<Variable*>> variables(const Ports& ports) const;

  // Whether these still have the kinds, dtypes and shapes that the segment was inferred for.
  bool fits(const Scope& scope) const;
  bool fits(const std::vector<Tensor>& feeds) const;
  bool fits(Frame& frame) const;

  // Before a run: the callers' arrays, in the order of the feeds; values of the frame; new memory for what goes into it.
  void bind_values(const std::vector<Tensor>& feeds, Frame& frame);
  // Moves values that the user or another program put on other devices to the devices that this segment needs. Returns
  // true if addresses may have changed.
  bool move_to_devices();
  // Invalidates other plans, which assume the old row counts.
  void note_row_counts();
  void accept_scope() { generation_ = scope_.generation(); }  // the scope fits in its current generation

 private:
  void give_memory(const std::vector<Variable*>& variables, Device* device, const UndoLog& undo);
  static bool fits(const Variable& there, const VarInfo& info);

  const Segment& segment_;
  const Placement& placement_;
  Scope& scope_;
  std::deque<Variable> own_;          // temporaries, feeds, and stand-ins for scope variables on devices
  std::vector<Variable*> variables_;
  std::vector<Variable*> in_scope_;
  std::vector<Location> locations_;
  std::vector<std::pair<Variable*, size_t>> row_counts_;  // SelectedRows of the scope and their last row counts
  mutable uint64_t generation_ = 0;   // generation of the scope when all of it was checked to fit
  uint64_t moved_generation_ = 0;     // generation when all values were checked to be on their devices
};

}  // namespace paddle_mini
