// The executor. Its stages are functions from one table to the next; each table can print itself:
//
//   verify    (verify.h)     checks that the program is valid
//   infer     (infer.h)      kind, dtype, shape and origin of every variable: a Segment
//   passes    (passes.cc)    what is changed or added to the Segment: casts, places and kernels, transfers, fused operators
//   plan      (plan.h)       order of steps, memory, rollback; with several devices, waits between queues
//   run       (run.cc)       the loop; with several devices, it submits work to their queues (async_schedule.h)
//
// Each pass takes a Segment and returns one.
// verify happens once a program; infer, the passes and plan once for each combination of program, scope,
// feed shapes, fetches and place. After that a run looks nothing up by name. A program with control
// operators, or with shapes that depend on data, is planned and run in segments (blocks.h).
// PM_LOG=infer,plan, or names of passes, prints the tables to standard error; PM_LOG=run the times of operators when the
// process exits, PM_LOG=runs after each run (run_watch.h).
#pragma once

#include <optional>

#include "executor/session_cache.h"

namespace paddle_mini {

struct ExecutorOptions {
  Place place = {};  // where operators run that name no device
  std::optional<uint64_t> seed = {};  // for operators without a seed of their own; none: a random one
  bool files = false;  // operators may touch the files that the program names
  bool cpu_fallback = false;  // operators without a kernel on the place run on the CPU
  std::shared_ptr<Communicator> communicator;  // set for a replica
  int rank = 0;  // among the replicas
  int threads = 0;  // most threads of an operator; 0: num_threads() (core/cpu_count.h), which may change between runs
  int64_t max_loop_steps = 0;  // for each loop in one run; 0: no bound
};

// Runs programs on one place. Any thread may use it at any time. Runs of one executor are serialized, because they share its
// random generators and its sessions; so do uses of a scope (core/scope.h). A use that waits or runs polls `stop`,
// without a lock, and throws Interrupted if it returns true.
class Executor {
 public:
  using Stop = bool (*)();

  Executor(DeviceManager& manager, const ExecutorOptions& options);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  class Run;

  // These wait for all runs, also for what devices still do: random numbers are drawn there.
  std::string random_state(Stop stop = nullptr);
  void set_random_state(const std::string& text, Stop stop = nullptr);  // OpError for any other text
  void seed(uint64_t seed, Stop stop = nullptr);

 private:
  template <class F>
  auto alone(Stop stop, F f) -> decltype(f());

  Placement placement_;
  std::shared_ptr<KernelContexts> contexts_;
  SessionLock lock_;
  SessionCache sessions_;
};

// One run. From start() until its end it holds the locks of the executor and of the scope, so that fetched values stay as
// they are: copy them, then let it end.
class Executor::Run {
 public:
  Run(Executor& executor, std::shared_ptr<const Signature> signature, std::shared_ptr<Scope> scope);

  // Waits for both locks, then runs the program. It is called once. Throws with the scope as it was before: ProgramError,
  // ShapeError, OpError, DeviceError, ScopeInUse where this thread is inside another run or a written name is claimed,
  // Interrupted. `feeds` in the order of the signature; their memory must stay as it is until this returns.
  void start(const std::vector<Tensor>& feeds, Stop stop = nullptr);
  const Variable& fetched(size_t i) const { return session_->fetched(i); }

  // In place of start(): the table of a stage, as text (Session::plan_text).
  std::string plan_text(const std::vector<Tensor>& feeds, const std::string& stage, Stop stop = nullptr);

 private:
  void begin(Access access, Stop stop);

  Executor& executor_;
  std::shared_ptr<const Signature> signature_;
  std::shared_ptr<Scope> scope_;
  SessionLock::Use executor_use_;
  std::optional<Scope::Use> scope_use_;
  std::shared_ptr<Session>
      session_;  // found or made under the executor's lock: to drop an old one may wait for a device
};

}  // namespace paddle_mini
