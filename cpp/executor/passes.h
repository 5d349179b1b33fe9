// passes: transformations of a segment between infer and plan.
#pragma once

#include "executor/place.h"

namespace paddle_mini {

// Takes a segment and returns the transformed one.
struct Pass {
  const char* name;  // for PM_LOG, PM_PASSES and plan_text
  Segment (*run)(Segment segment, const Placement& placement);
  bool optional = false;  // it makes programs faster, and PM_PASSES may leave it out
};

const std::vector<Pass>& passes();  // in execution order

// Runs all passes, or those up to `last` if given. PM_LOG prints the table of each pass that it names. Throws
// ProgramError if no pass has the name `last`.
Segment run_passes(Segment segment, const Placement& placement, const std::string& last = "");

// Throws ProgramError if PM_PASSES, the names of the optional passes to run with commas between them, has another name.
void require_known_passes();
bool logs(const char* stage);   // whether PM_LOG, names with commas between them, contains it
void require_known_stages();    // throws ProgramError if PM_LOG has another word
void require_known_switches();  // throws ProgramError if PM_FUSE or PM_GRAPHS is neither 0 nor 1

}  // namespace paddle_mini
