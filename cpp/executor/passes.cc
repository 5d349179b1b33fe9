// The list of passes. To add one, write its file and add a line here.
#include "executor/passes.h"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

#include "core/throwing_stream.h"
#include "executor/attention.h"
#include "executor/attention_heads.h"
#include "executor/batches.h"
#include "executor/constants.h"
#include "executor/epilogues.h"
#include "executor/fold.h"
#include "executor/fuse.h"
#include "executor/identities.h"
#include "executor/lanes.h"
#include "executor/masters.h"
#include "executor/transfers.h"
#include "executor/widen.h"

namespace paddle_mini {

const std::vector<Pass>& passes() {
  static const std::vector<Pass> list = {
      {"masters", update_masters},  // steps of optimizers on float32 copies of 16-bit parameters
      {"widen", widen},             // casts around operators that run in a wider element type
      {"identities", leave_out_identities, true},  // operators that change nothing go
      {"constants", compute_constants, true},      // operators with constant inputs are computed once
      {"fold", fold, true},         // normalizations become part of the product before them
      {"attention", fuse_attention, true},  // products, softmax and masks become one operator
      {"heads", read_heads_in_place, true},  // attention without the transposes around it
      {"lanes", keep_images_in_lanes, true},  // small images stay side by side from convolution to convolution
      {"place", place_operators},   // device and kernel of each operator
      {"transfer", add_transfers},  // values cross between devices
      {"fuse", fuse, true},         // operators that run tile by tile with the one before them
      {"epilogues", add_epilogues, true},  // elementwise operators run on each part of an output before them
      {"batches", split_batches, true},  // operators run for a few entries of a batch before the next ones
  };
  return list;
}

namespace {

bool lists(const char* names, const char* name) {
  return text(",", names, ",").find(text(",", name, ",")) != std::string::npos;
}

bool is_left_out(const Pass& pass) {
  const char* wanted = std::getenv("PM_PASSES");
  return pass.optional && wanted && !lists(wanted, pass.name);
}

// Throws ProgramError if the value of the environment variable has a name that is not in `names`.
void require_names(const char* variable, const char* value, const std::string& names, const char* what) {
  Throwing<std::istringstream> words(value);
  for (std::string word; std::getline(words, word, ',');) {
    bool known = word.empty() || text(" ", names, ",").find(text(" ", word, ",")) != std::string::npos;
    require<ProgramError>(known, variable, "=", printable(value), ": '", printable(word), "' is not ", what,
                          "; there are ", names);
  }
}

}  // namespace

bool logs(const char* stage) {
  const char* wanted = std::getenv("PM_LOG");
  return wanted && lists(wanted, stage);
}

void require_known_passes() {
  const char* wanted = std::getenv("PM_PASSES");
  if (!wanted) return;
  std::string names;
  for (const Pass& pass : passes())
    if (pass.optional) names += text(names.empty() ? "" : ", ", pass.name);
  require_names("PM_PASSES", wanted, names, "an optional pass");
}

void require_known_stages() {
  const char* wanted = std::getenv("PM_LOG");
  if (!wanted) return;
  std::string names = "infer";
  for (const Pass& pass : passes()) names += text(", ", pass.name);
  names += ", plan, run, runs";
  require_names("PM_LOG", wanted, names, "a stage");
}

void require_known_switches() {
  for (const char* variable : {"PM_FUSE", "PM_GRAPHS"}) {
    const char* value = std::getenv(variable);
    bool known = !value || !*value || (std::strchr("01", *value) && !value[1]);
    require<ProgramError>(known, variable, "=", value ? printable(value) : "", ": it must be 0 or 1");
  }
}

Segment run_passes(Segment segment, const Placement& placement, const std::string& last) {
  std::string names = "infer";
  for (const Pass& pass : passes()) {
    if (!is_left_out(pass)) segment = pass.run(std::move(segment), placement);
    if (logs(pass.name)) std::cerr << pass.name << ":\n" << segment.str();
    if (last == pass.name) return segment;
    names += text(", ", pass.name);
  }
  require<ProgramError>(last.empty(), "'", printable(last), "' is not a stage; there are ", names, " and plan");
  return segment;
}

}  // namespace paddle_mini
