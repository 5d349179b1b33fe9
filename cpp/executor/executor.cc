// Sessions: choosing, making and keeping plans.
#include "executor/executor.h"

#include <iostream>

namespace paddle_mini {

Session::Session(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope,
                 const Placement& placement, std::vector<std::string> feeds, std::vector<std::string> fetches)
    : program_(std::move(program)), scope_(std::move(scope)), placement_(placement), feed_names_(std::move(feeds)),
      fetches_(std::move(fetches)), plans_(program_, scope_, placement_), blocks_(program_, scope_, plans_) {
  for (const std::string& name : fetches_) {  // before a run has changed anything
    const VarDesc* var = program_->find(0, name);
    auto kind = var ? static_cast<VarKind>(var->kind) : VarKind::Tensor;
    require<OpError>(kind != VarKind::StepScopes && kind != VarKind::LodRankTable, "fetch '", printable(name),
                     "': a variable that is ", name_of(kind), " can't be fetched");
  }
}

Plan& Session::plan_for(const std::vector<Tensor>& feeds) {
  // A plan that is not whole shares its session with the plans of later segments: the cache must know that it is used.
  if (current_ && current_->segment().whole && current_->binding().fits(feeds) && current_->binding().fits(*scope_))
    return *current_;
  current_ = plans_.find(PlanCache::Values::Feeds, 0, 0, [&](const Plan& plan) { return plan.binding().fits(feeds); });
  if (current_) return *current_;
  std::vector<Feed> given = described(feeds);
  current_ = plans_.make(PlanCache::Values::Feeds, {0, 0, &given, nullptr, &fetches_});
  return *current_;
}

std::vector<Feed> Session::described(const std::vector<Tensor>& feeds) const {
  std::vector<Feed> described;
  for (size_t i = 0; i < feeds.size(); ++i) {
    described.push_back(
        {feed_names_[i],
         {VarKind::Tensor, feeds[i].dtype, feeds[i].shape, static_cast<int>(feeds[i].lod.size()), 0, feeds[i].lod}});
  }
  return described;
}

void Session::run(const std::vector<Tensor>& feeds, Devices& devices, bool (*stop)()) {
  if (scope_->has_claims())
    for (const std::string& name : program_->written) scope_->require_unclaimed(name);
  // Only the plan that is still at work may go on without waiting: it knows what each of its steps must wait for.
  bool goes_on = current_ && scope_->pending() == current_.get() && current_->binding().fits(feeds) &&
                 current_->binding().fits(*scope_);
  if (!goes_on) scope_->settle();
  Plan& plan = plan_for(feeds);  // current_ keeps it
  static const bool timed = logs("run");
  OpTimes times;
  RunState state{devices, StopAsker(stop), UndoLog(*scope_), &fetches_, timed ? &times : nullptr};
  try {
    if (plan.segment().whole) plan.run(feeds, state.plan_run());
    else run_in_parts(plan, feeds, state);
  } catch (...) {
    drop_current();  // its first run may have been the one that made variables, which are gone again
    throw;
  }
  if (timed) std::cerr << times.text();
}

void Session::run_in_parts(Plan& first, const std::vector<Tensor>& feeds, RunState& state) {
  frame_ = std::make_unique<Frame>();
  for (size_t i = 0; i < feeds.size(); ++i) (*frame_)[feed_names_[i]].tensor = feeds[i];
  try {
    first.run_in(*frame_, feeds, state.plan_run(), state.undo);
    blocks_.hand_on(first, *frame_);
    last_ = blocks_.run(0, first.segment().end, *frame_, state);
    state.devices.agree();
  } catch (...) {
    state.undo.rollback();
    throw;
  }
}

const Variable& Session::fetched(size_t i) const {
  return current_->segment().whole ? current_->fetched(i) : last_->fetched(i);
}

std::string Session::plan_text(const std::vector<Tensor>& feeds, const std::string& stage) {
  scope_->settle();
  if (stage != "plan") {
    std::vector<Feed> given = described(feeds);
    Segment segment = infer(program_, {0, 0, &given, nullptr, &fetches_}, *scope_);
    return stage == "infer" ? segment.str() : run_passes(std::move(segment), placement_, stage).str();
  }
  Plan& plan = plan_for(feeds);
  std::string text = plan.str();
  if (plan.has_run()) return text;
  plan.unbind();  // looking leaves no trace in the scope
  drop_current();
  return text;
}

void Session::drop_current() {
  plans_.drop(current_.get());
  current_.reset();
}

}  // namespace paddle_mini
