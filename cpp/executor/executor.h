// The executor. Its stages, each a function from a table to the next one, which prints itself:
//
//   verify    (verify.h)     is this a valid program
//   infer     (infer.h)      kind, dtype and shape of every variable, and where each comes from: a Segment
//   widen     (widen.h)      casts around operators that run in a wider element type
//   place     (place.h)      the device and the kernel of every operator
//   transfer  (transfers.h)  transfers between devices
//   fuse      (fuse.h)       which operators run tile by tile with the one before them
//   plan      (plan.h)       steps in order, memory, what to restore on failure; with several devices, who waits for whom
//   run       (run.cc)       the loop; with several devices, it submits work to their queues (flow.h)
//
// The stages between infer and plan are passes: each takes a Segment and returns one (passes.h lists them).
// verify happens once a program; infer, the passes and plan once for each combination of program, scope,
// feed shapes, fetches and place. After that a run looks nothing up by name. A program with control
// operators, or with shapes that depend on data, is planned and run in segments (blocks.h).
// PM_LOG=infer,widen,place,transfer,fuse,plan,run prints the tables to standard error.
#pragma once

#include "executor/blocks.h"

namespace paddle_mini {

// One program in one scope with fixed feeds and fetches; keeps a plan for each set of feed shapes.
class Session {
 public:
  Session(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, const Placement& placement,
          std::vector<std::string> feeds, std::vector<std::string> fetches);

  // `feeds` in the order of the names; their memory must stay as it is until this returns.
  // Afterwards fetched(i) is valid until the next run. Where several devices work, what is not fetched may still be on its
  // way: scope->settle() waits for it.
  void run(const std::vector<Tensor>& feeds, Devices& devices, bool (*stop)() = nullptr);
  const Variable& fetched(size_t i) const;
  size_t fetch_count() const { return fetches_.size(); }
  const std::vector<std::string>& feed_names() const { return feed_names_; }

  // The table of a stage for these feeds, as text, without running: "plan", "infer" or the name of a pass.
  std::string plan_text(const std::vector<Tensor>& feeds, const std::string& stage = "plan");

 private:
  Plan& plan_for(const std::vector<Tensor>& feeds);
  std::vector<Feed> described(const std::vector<Tensor>& feeds) const;
  void run_in_parts(Plan& first, const std::vector<Tensor>& feeds, RunState& state);
  void drop_current();

  std::shared_ptr<const VerifiedProgram> program_;
  std::shared_ptr<Scope> scope_;
  Placement placement_;
  std::vector<std::string> feed_names_, fetches_;
  PlanCache plans_;
  std::shared_ptr<Plan> current_;
  Blocks blocks_;  // for what comes after the first segment of a program
  std::unique_ptr<Frame> frame_;  // of the last run in parts: what was fetched may be in it
  std::shared_ptr<Plan> last_;
};

}  // namespace paddle_mini
