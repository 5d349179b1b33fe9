// Sessions: choosing, making and keeping plans.
#include "executor/executor.h"

#include <algorithm>
#include <iostream>

namespace paddle_mini {
namespace {

constexpr size_t kMostPlans = 16;

}  // namespace

Session::Session(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, const Placement& placement,
                 std::vector<std::string> feeds, std::vector<std::string> fetches)
    : program_(std::move(program)), scope_(std::move(scope)), placement_(placement), feed_names_(std::move(feeds)),
      fetches_(std::move(fetches)), blocks_(program_, scope_, placement, arenas_) {}

Plan& Session::plan_for(const std::vector<Tensor>& feeds) {
  auto same_shapes = [&](const Plan& plan) { return plan.fits(feeds); };
  if (!(current_ && same_shapes(*current_))) {
    auto it = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return same_shapes(*plan); });
    current_ = it == plans_.end() ? nullptr : it->get();
  }
  if (current_ && current_->fits(*scope_)) return *current_;
  Plan* stale = current_;
  current_ = nullptr;
  plans_.erase(std::remove_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return plan.get() == stale; }), plans_.end());
  std::vector<Feed> described;
  for (size_t i = 0; i < feeds.size(); ++i) {
    described.push_back({feed_names_[i], {VarKind::Tensor, feeds[i].dtype, feeds[i].shape, static_cast<int>(feeds[i].lod.size()), 0, feeds[i].lod}});
  }
  InferredProgram inferred = infer(*program_, {0, 0, &described, nullptr, &fetches_}, *scope_);
  if (logs("infer")) std::cerr << inferred.str();
  auto plan = std::make_unique<Plan>(std::move(inferred), placement_, *scope_, arenas_);
  if (logs("plan")) std::cerr << plan->str();
  if (plans_.size() == kMostPlans) plans_.erase(plans_.begin());
  plans_.push_back(std::move(plan));
  return *(current_ = plans_.back().get());
}

void Session::run(const std::vector<Tensor>& feeds, Devices& devices, bool (*stop)()) {
  // Only the plan that is still at work may go on without waiting: it knows what each of its steps must wait for.
  bool goes_on = current_ && scope_->pending() == current_ && current_->fits(feeds) && current_->fits(*scope_);
  if (!goes_on) scope_->settle();
  Plan& plan = plan_for(feeds);
  static const bool timed = logs("run");
  OpTimes times;
  RunState state{devices, StopAsker(stop), {}, &fetches_, timed ? &times : nullptr};
  try {
    if (plan.is_whole()) plan.run(feeds, devices, state.stop, state.times);
    else run_in_parts(plan, feeds, state);
  } catch (...) {
    drop(plan);  // its first run may have been the one that made variables, which are gone again
    throw;
  }
  if (timed) std::cerr << times.text();
}

void Session::run_in_parts(Plan& first, const std::vector<Tensor>& feeds, RunState& state) {
  frame_ = std::make_unique<Frame>();
  for (size_t i = 0; i < feeds.size(); ++i) (*frame_)[feed_names_[i]].tensor = feeds[i];
  try {
    first.run_part(feeds, *frame_, state.devices, state.stop, state.changes, state.times);
    blocks_.hand_on(first, *frame_);
    last_ = blocks_.run(0, first.end(), *frame_, state);
    state.devices.agree();
  } catch (...) {
    state.changes.undo(*scope_);
    throw;
  }
}

const Variable& Session::fetched(size_t i) const { return current_->is_whole() ? current_->fetched(i) : last_->fetched(i); }

std::string Session::plan_text(const std::vector<Tensor>& feeds) {
  scope_->settle();
  Plan& plan = plan_for(feeds);
  std::string text = plan.str();
  if (plan.has_run()) return text;
  plan.unbind();  // looking leaves no trace in the scope
  drop(plan);
  return text;
}

void Session::drop(const Plan& plan) {
  plans_.erase(std::find_if(plans_.begin(), plans_.end(), [&](const auto& p) { return p.get() == &plan; }));
  current_ = nullptr;
}

}  // namespace paddle_mini
