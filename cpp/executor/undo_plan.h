// undo_plan: which values of the scope every run of a plan saves, and until where it may be stopped.
#pragma once

#include "executor/steps.h"

namespace paddle_mini {

struct UndoPlan {
  std::vector<Variable*> saved;    // before each run
  std::vector<Variable*> written;  // of the scope
  size_t stoppable = 0;           // a run that stops before this step has written nothing that is not saved
  size_t stoppable_at_first = 0;  // the same in the first run, which can also undo what the plan has created
};

// Values of the scope that are written before the last step that can still refuse its data are saved, so that a refusal
// leaves the scope as it was. The rest of the run can't fail. What that last step itself writes is not touched when it
// refuses; with `late` it is saved too, because the refusal comes to light later, as on a device or in another replica.
UndoPlan plan_undo(const Binding& binding, const UndoLog& undo, const std::vector<Step>& steps, bool on_devices,
                   bool late);

}  // namespace paddle_mini
