// session: one signature in one scope; keeps a plan for each set of feed shapes, and runs them.
#pragma once

#include "executor/blocks.h"
#include "executor/signature.h"

namespace paddle_mini {

// Its caller has the turns of the executor and of the scope (Executor::Run).
class Session {
 public:
  Session(std::shared_ptr<const Signature> signature, std::shared_ptr<Scope> scope, const Placement& placement);

  // `feeds` in the order of the signature; their memory must stay as it is until this returns.
  // Afterwards fetched(i) is valid until the next run. Where several devices work, what is not fetched may still be on its
  // way: scope->settle() waits for it.
  void run(const std::vector<Tensor>& feeds, Devices& devices, bool (*stop)() = nullptr);
  const Variable& fetched(size_t i) const { return last_->fetched(i); }
  const std::shared_ptr<const Signature>& signature() const { return signature_; }
  const std::shared_ptr<Scope>& scope() const { return scope_; }

  // The table of a stage for these feeds, as text, without running: "plan", "infer" or the name of a pass.
  std::string plan_text(const std::vector<Tensor>& feeds, const std::string& stage = "plan");

 private:
  const std::shared_ptr<Plan>& plan_for(const std::vector<Tensor>& feeds);
  std::vector<Feed> described(const std::vector<Tensor>& feeds) const;
  void drop_current();

  std::shared_ptr<const Signature> signature_;
  std::shared_ptr<Scope> scope_;
  Placement placement_;
  PlanCache plans_;
  Blocks blocks_;  // for what comes after the first segment of a program
  std::shared_ptr<Plan> current_;
  std::shared_ptr<Plan> last_;    // of the last run: the plan that has its fetches
  std::unique_ptr<Frame> frame_;  // of the last run of several segments: what was fetched may be in it
};

}  // namespace paddle_mini
