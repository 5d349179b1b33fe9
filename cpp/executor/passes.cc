// The list of passes. To add one, write its file and add a line here.
#include "executor/passes.h"

#include <cstdlib>
#include <iostream>

#include "executor/fuse.h"
#include "executor/masters.h"
#include "executor/transfers.h"
#include "executor/widen.h"

namespace paddle_mini {

const std::vector<Pass>& passes() {
  static const std::vector<Pass> list = {
      {"masters", update_masters},  // steps of optimizers on float32 copies of 16-bit parameters
      {"widen", widen},             // casts around operators that run in a wider element type
      {"place", place_operators},   // device and kernel of each operator
      {"transfer", add_transfers},  // values cross between devices
      {"fuse", fuse},               // operators that run tile by tile with the one before them
  };
  return list;
}

bool logs(const char* stage) {
  const char* wanted = std::getenv("PM_LOG");
  return wanted && text(",", wanted, ",").find(text(",", stage, ",")) != std::string::npos;
}

void require_known_stages() {
  const char* wanted = std::getenv("PM_LOG");
  if (!wanted) return;
  std::string names = "infer";
  for (const Pass& pass : passes()) names += text(", ", pass.name);
  names += ", plan, run, runs";
  std::stringstream words(wanted);
  for (std::string word; std::getline(words, word, ',');) {
    bool known = word.empty() || text(" ", names, ",").find(text(" ", word, ",")) != std::string::npos;
    require<ProgramError>(known, "PM_LOG=", printable(wanted), ": '", printable(word), "' is not a stage; there are ",
                          names);
  }
}

Segment run_passes(Segment segment, const Placement& placement, const std::string& last) {
  std::string names = "infer";
  for (const Pass& pass : passes()) {
    segment = pass.run(std::move(segment), placement);
    if (logs(pass.name)) std::cerr << pass.name << ":\n" << segment.str();
    if (last == pass.name) return segment;
    names += text(", ", pass.name);
  }
  require<ProgramError>(last.empty(), "'", printable(last), "' is not a stage; there are ", names, " and plan");
  return segment;
}

}  // namespace paddle_mini
