// session: one signature in one scope. Caches a plan for each set of feed shapes and runs it.
#pragma once

#include "executor/blocks.h"
#include "executor/signature.h"

namespace paddle_mini {

// The caller must hold the executor and the scope (Executor::Run).
class Session {
 public:
  Session(std::shared_ptr<const Signature> signature, std::shared_ptr<Scope> scope, const Placement& placement);

  // `feeds` have the order of the signature; their memory must not change until this returns. Afterwards fetched(i) is
  // valid until the next run. With several devices, values that are not fetched may still be computed then:
  // scope->synchronize() waits for them.
  void run(const std::vector<Tensor>& feeds, KernelContexts& contexts, bool (*stop)() = nullptr);
  const Variable& fetched(size_t i) const { return last_->fetched(i); }
  const std::shared_ptr<const Signature>& signature() const { return signature_; }
  const std::shared_ptr<Scope>& scope() const { return scope_; }

  // Prints the table of a stage for these feeds and as many threads, without a run. Stages: "plan", "infer" and the names of
  // passes.
  std::string plan_text(const std::vector<Tensor>& feeds, const std::string& stage, int threads);

 private:
  const std::shared_ptr<Plan>& plan_for(const std::vector<Tensor>& feeds);
  std::vector<Feed> described(const std::vector<Tensor>& feeds) const;
  void use_threads(int threads);
  void drop_current();

  std::shared_ptr<const Signature> signature_;
  std::shared_ptr<Scope> scope_;
  Placement placement_;
  PlanCache plans_;
  Blocks blocks_;  // runs the program after its first segment
  std::shared_ptr<Plan> current_;
  std::shared_ptr<Plan> last_;    // the plan that holds the fetches of the last run
  std::unique_ptr<Frame> frame_;  // from the last run with several segments; may own fetched values
};

}  // namespace paddle_mini
