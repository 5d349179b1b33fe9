// The list of passes. To add one, write its file and add a line here.
#include "executor/passes.h"

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "executor/fuse.h"
#include "executor/masters.h"
#include "executor/skip.h"
#include "executor/stream.h"
#include "executor/transfers.h"
#include "executor/widen.h"

namespace paddle_mini {

const std::vector<Pass>& passes() {
  static const std::vector<Pass> list = {
      {"masters", update_masters, true},  // steps of optimizers on float32 copies of 16-bit parameters
      {"widen", widen, true},             // casts around operators that run in a wider element type
      {"place", place_operators, true},   // device and kernel of each operator
      {"transfer", add_transfers, true},  // values cross between devices
      {"skip", skip, false},              // operators without effect
      {"fuse", fuse, false},              // operators that run tile by tile with the one before them
      {"stream", stream, false},          // operators that run on parts of the output of the one before them
  };
  return list;
}

namespace {

bool names(const char* list, const std::string& name) {
  return text(",", list, ",").find(text(",", name, ",")) != std::string::npos;
}

// The value of PM_PASSES; nullptr: not set.
const char* wanted_passes() {
  const char* wanted = std::getenv("PM_PASSES");
  if (!wanted) return nullptr;
  std::string known = ",none,", optional;
  for (const Pass& pass : passes()) {
    if (pass.needed) continue;
    known += text(pass.name, ",");
    optional += text(optional.empty() ? "" : ", ", pass.name);
  }
  std::istringstream list(wanted);
  for (std::string name; std::getline(list, name, ',');)
    require<ProgramError>(known.find("," + name + ",") != std::string::npos, "PM_PASSES: '", printable(name),
                          "' is not a pass that can be left out; there are ", optional, ", and none");
  return wanted;
}

}  // namespace

bool logs(const char* stage) {
  const char* wanted = std::getenv("PM_LOG");
  return wanted && names(wanted, stage);
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
  std::string stages = "infer";
  const char* wanted = wanted_passes();
  for (const Pass& pass : passes()) {
    if (pass.needed || !wanted || names(wanted, pass.name)) segment = pass.run(std::move(segment), placement);
    if (logs(pass.name)) std::cerr << pass.name << ":\n" << segment.str();
    if (last == pass.name) return segment;
    stages += text(", ", pass.name);
  }
  require<ProgramError>(last.empty(), "'", printable(last), "' is not a stage; there are ", stages, " and plan");
  return segment;
}

}  // namespace paddle_mini
