// Selects the plan of a run and runs its segments.
#include "executor/session.h"

#include <optional>

namespace paddle_mini {

Session::Session(std::shared_ptr<const Signature> signature, std::shared_ptr<Scope> scope, const Placement& placement)
    : signature_(std::move(signature)), scope_(std::move(scope)), placement_(placement),
      plans_(signature_->program(), scope_, placement_), blocks_(signature_->program(), scope_, plans_),
      frame_(std::make_unique<Frame>()) {}

const std::shared_ptr<Plan>& Session::plan_for(const std::vector<Tensor>& feeds) {
  // A plan for a part of the program shares the cache with plans of later segments: the cache must register its use.
  bool fits = current_ && current_->segment().whole && current_->binding().fits(feeds);
  if (fits && current_->binding().fits(*scope_)) return current_;
  std::vector<Feed> given;
  current_ = plans_.find_or_make(
      {PlanCache::Values::Feeds, 0, 0, PlanCache::hash_of_shapes(feeds)},
      [&](const Plan& plan) { return plan.binding().fits(feeds); },
      [&] {
        given = described(feeds);
        return SegmentStart{0, 0, &given, nullptr, &signature_->fetches()};
      });
  return current_;
}

std::vector<Feed> Session::described(const std::vector<Tensor>& feeds) const {
  std::vector<Feed> described;
  for (size_t i = 0; i < feeds.size(); ++i) {
    described.push_back(
        {signature_->feeds()[i],
         {VarKind::Tensor, feeds[i].dtype, feeds[i].shape, static_cast<int>(feeds[i].lod.size()), 0, feeds[i].lod}});
  }
  return described;
}

void Session::run(const std::vector<Tensor>& feeds, KernelContexts& contexts, bool (*stop)()) {
  contexts.at(Place{}).values_version = scope_->values_version();
  if (scope_->has_claims())
    for (const std::string& name : signature_->program()->written) scope_->require_unclaimed(name);
  scope_->stop_sharing(signature_->program()->written);
  use_threads(contexts.threads());
  // Only the plan whose work is pending may start without waiting: its steps wait for those of its previous run.
  bool goes_on = current_ && scope_->pending() == current_.get() && current_->binding().fits(feeds) &&
                 current_->binding().fits(*scope_);
  std::unique_ptr<RunWatch> watch = RunWatch::of_run(signature_->program(), scope_);
  if (!goes_on || watch) scope_->synchronize();
  std::shared_ptr<Plan> first = plan_for(feeds);
  std::optional<UndoLog> undo;  // for several segments, or if any operator may be refused
  RunState state{contexts, InterruptPoller(stop), watch.get(), nullptr, &signature_->fetches()};
  if (!first->segment().whole || (watch && watch->checks_values())) state.undo = &undo.emplace(*scope_);
  if (!first->segment().whole) {
    frame_ = std::make_unique<Frame>();
    for (size_t i = 0; i < feeds.size(); ++i) {
      const std::string& name = signature_->feeds()[i];
      require<ProgramError>(
          !signature_->program()->written.count(name), "feed '", printable(name),
          "': the program writes this variable, and runs in several segments; Scope.set() sets it before the run");
      (*frame_)[name].tensor = feeds[i];
    }
  }
  try {
    last_ = blocks_.run_program(std::move(first), feeds, *frame_, state);
  } catch (...) {
    if (undo) undo->rollback();
    drop_current();  // the rollback may have removed variables that its first run created
    throw;
  }
}

void Session::use_threads(int threads) {
  placement_.threads = threads;
  if (!plans_.use_threads(threads)) return;
  scope_->synchronize();
  current_.reset();
}

std::string Session::plan_text(const std::vector<Tensor>& feeds, const std::string& stage, int threads) {
  scope_->synchronize();
  use_threads(threads);
  if (stage != "plan") {
    std::vector<Feed> given = described(feeds);
    Segment segment = infer(signature_->program(), {0, 0, &given, nullptr, &signature_->fetches()}, *scope_);
    return stage == "infer" ? segment.str() : run_passes(std::move(segment), placement_, stage).str();
  }
  const std::shared_ptr<Plan>& plan = plan_for(feeds);
  std::string text = plan->str();
  if (plan->has_run()) return text;
  plan->unbind();  // plan_text must not change the scope
  drop_current();
  return text;
}

void Session::drop_current() {
  plans_.drop(current_.get());
  if (last_ == current_) last_.reset();
  current_.reset();
}

}  // namespace paddle_mini
