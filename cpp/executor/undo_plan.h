// undo_plan: selects the scope values that every run of a plan saves, and the steps before which it may be stopped.
#pragma once

#include "executor/steps.h"

namespace paddle_mini {

struct UndoPlan {
  std::vector<Variable*> saved;    // before each run
  std::vector<Variable*> written;  // variables of the scope
  size_t stoppable = 0;           // before this step a run has written only saved values
  size_t stoppable_at_first = 0;  // the same for the first run, which can also undo the creation of variables
};

// Values of the scope that are written before the last step that may reject its data are saved, so that an error leaves
// the scope unchanged. The rest of the run can't fail. That last step writes nothing if it rejects its data; with
// `late` its outputs are saved too, because the error is detected later, as on a device or in another replica.
UndoPlan plan_undo(const Binding& binding, const UndoLog& undo, const std::vector<Step>& steps, bool on_devices,
                   bool late);

}  // namespace paddle_mini
