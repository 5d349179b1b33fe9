// Serializes the runs of an executor with each other and with other uses of their scopes.
#include "executor/executor.h"

#include <random>
#include <utility>

#include "core/cpu_count.h"
#include "core/thread_pool.h"
#include "executor/passes.h"

namespace paddle_mini {

Executor::Executor(DeviceManager& manager, const ExecutorOptions& options)
    : placement_(manager, options.place, options.cpu_fallback, options.communicator != nullptr),
      contexts_(std::make_shared<KernelContexts>(manager, options.place, options.communicator, options.rank)),
      sessions_(placement_) {
  require_known_stages();
  require_known_passes();
  require_known_switches();
  contexts_->may_touch_files(options.files);
  if (options.threads) require_threads(options.threads);
  contexts_->limit_threads(options.threads);
  contexts_->limit_loops(options.max_loop_steps);
  contexts_->seed(options.seed ? *options.seed : std::random_device{}());
}

// Runs f while no run draws random numbers.
template <class F>
auto Executor::alone(Stop stop, F f) -> decltype(f()) {
  for (const std::shared_ptr<Scope>& scope : sessions_.scopes()) {
    Scope::Use settled(*scope, Access::Change);
    try {
      settled.begin(stop);
    } catch (const ScopeInUse&) { throw; } catch (const Interrupted&) {
      throw;
    } catch (...) { scope->fail_later(std::current_exception()); }  // a run's error is for the next user of that scope
  }
  SessionLock::Use lock(lock_, "this executor");
  lock.begin(Access::Run, stop);
  return f();
}

std::string Executor::random_state(Stop stop) {
  return alone(stop, [&] { return contexts_->random_state(); });
}

void Executor::set_random_state(const std::string& text, Stop stop) {
  alone(stop, [&] { contexts_->set_random_state(text); });
}

void Executor::seed(uint64_t seed, Stop stop) {
  alone(stop, [&] { contexts_->seed(seed); });
}

Executor::Run::Run(Executor& executor, std::shared_ptr<const Signature> signature, std::shared_ptr<Scope> scope)
    : executor_(executor), signature_(std::move(signature)), scope_(std::move(scope)),
      executor_use_(executor.lock_, "this executor") {}

void Executor::Run::begin(Access access, Stop stop) {
  scope_use_.emplace(*scope_, access);
  executor_use_.begin(Access::Run, stop);
  session_ = executor_.sessions_.at(signature_, scope_);
  scope_use_->begin(stop);
}

void Executor::Run::start(const std::vector<Tensor>& feeds, Stop stop) {
  signature_->require_feeds(feeds.size());
  for (size_t i = 0; i < feeds.size(); ++i) require_bools(feeds[i], signature_->feeds()[i]);
  // Programs that only read may run in one scope at the same time, each by an executor of its own; but not where that may
  // move values between devices.
  bool alone = !signature_->program()->written.empty() || !executor_.placement_.place.is_cpu();
  begin(alone ? Access::Run : Access::ReadingRun, stop);
  executor_.contexts_->begin_run();
  ThreadPool::Caller caller;
  // Replicas begin together: once one of them has a sum in its device's queue, no other one still has to come out of a
  // callback that may wait for that queue, such as Python's garbage collection of another executor.
  executor_.contexts_->agree();
  session_->run(feeds, *executor_.contexts_, stop);
}

std::string Executor::Run::plan_text(const std::vector<Tensor>& feeds, const std::string& stage, Stop stop) {
  signature_->require_feeds(feeds.size());
  begin(Access::Run, stop);
  executor_.contexts_->begin_run();
  return session_->plan_text(feeds, stage, executor_.contexts_->threads());
}

}  // namespace paddle_mini
