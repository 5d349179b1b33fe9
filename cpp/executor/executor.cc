// Sessions: choosing, making and keeping plans.
#include "executor/executor.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace paddle_mini {
namespace {

constexpr size_t kMostPlans = 16;

bool logs(const char* stage) {
  const char* wanted = std::getenv("PM_LOG");
  return wanted && std::string(wanted).find(stage) != std::string::npos;
}

}  // namespace

Session::Session(std::shared_ptr<const VerifiedProgram> program, std::shared_ptr<Scope> scope, const Place& place,
                 std::vector<std::string> feeds, std::vector<std::string> fetches)
    : program_(std::move(program)), scope_(std::move(scope)), place_(place), feed_names_(std::move(feeds)),
      fetches_(std::move(fetches)) {}

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
    described.push_back({feed_names_[i], {VarKind::Tensor, feeds[i].dtype, feeds[i].shape, static_cast<int>(feeds[i].lod.size())}});
  }
  InferredProgram inferred = infer(*program_, described, fetches_, *scope_);
  if (logs("infer")) std::cerr << inferred.str();
  auto plan = std::make_unique<Plan>(std::move(inferred), place_, *scope_);
  if (logs("plan")) std::cerr << plan->str();
  if (plans_.size() == kMostPlans) plans_.erase(plans_.begin());
  plans_.push_back(std::move(plan));
  return *(current_ = plans_.back().get());
}

void Session::run(const std::vector<Tensor>& feeds, Device& device, bool (*stop)()) {
  Plan& plan = plan_for(feeds);
  std::vector<double> times;
  static const bool timed = logs("run");
  try {
    plan.run(feeds, device, stop, timed ? &times : nullptr);
  } catch (...) {
    drop(plan);  // its first run may have been the one that made variables, which are gone again
    throw;
  }
  if (timed) std::cerr << plan.times_text(times);
}

std::string Session::plan_text(const std::vector<Tensor>& feeds) {
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
