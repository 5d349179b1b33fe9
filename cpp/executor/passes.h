// passes: what happens to a segment between infer and plan.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// Takes the table that the pass before it made and returns the next one.
struct Pass {
  const char* name;  // for PM_LOG and plan_text
  Segment (*run)(Segment segment, const Placement& placement);
};

const std::vector<Pass>& passes();  // in the order in which they run

// The segment after all passes; after the one called `last` where that is given. PM_LOG prints the table of each pass
// that it names. ProgramError where no pass has that name.
Segment run_passes(Segment segment, const Placement& placement, const std::string& last = "");

bool logs(const char* stage);  // PM_LOG names it

}  // namespace paddle_mini
