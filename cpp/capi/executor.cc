// The C functions of executors, signatures and runs.
#include "capi/objects.h"
#include "capi/status.h"

#include <limits>
#include <new>

using namespace paddle_mini;
using namespace paddle_mini::capi;

namespace paddle_mini::capi {
namespace {

thread_local const Options* stopping = nullptr;  // those of the innermost run of this thread that polls

bool truth(int32_t value, const char* what) {
  require<ArgumentError>(value == 0 || value == 1, what, " is ", value, ", it must be 0 or 1");
  return value == 1;
}

}  // namespace

Options::Options(const pm_options* given) {
  if (!given) return;
  require<ArgumentError>(given->size == sizeof(pm_options), "the size of the options is ", given->size, ", expected ",
                         sizeof(pm_options));
  if (given->place) executor.place = parse_place(given->place);
  require<ArgumentError>(given->threads >= 0, "threads is ", given->threads, ", it must be at least 0");
  require<ArgumentError>(given->max_loop_steps >= 0, "max_loop_steps is ", given->max_loop_steps,
                         ", it must be at least 0");
  executor.threads = given->threads;
  if (truth(given->has_seed, "has_seed")) executor.seed = given->seed;
  executor.max_loop_steps = given->max_loop_steps;
  executor.files = truth(given->files, "files");
  executor.cpu_fallback = truth(given->cpu_fallback, "cpu_fallback");
  stop = given->stop;
  context = given->context;
}

StopPoll::StopPoll(const Options& options) : options_(options), before_(stopping) { stopping = &options; }
StopPoll::~StopPoll() { stopping = before_; }
bool StopPoll::poll() { return stopping && stopping->stop && stopping->stop(stopping->context) != 0; }

void run_once(Executor& executor, const Options& options, const std::shared_ptr<const Signature>& signature,
              const std::shared_ptr<Scope>& scope, const pm_tensor* feeds, size_t count, Values* fetched) {
  std::vector<Tensor> tensors = tensors_of(feeds, count, signature->feeds());
  Executor::Run run(executor, signature, scope);
  StopPoll stop(options);
  run.start(tensors, stop.function());
  if (!fetched) return;
  const auto set_aside = fetched->set_aside(tensors);  // a value that is fetched may be one that was fed
  auto at = [](const void* context, size_t i) -> const Variable& {
    return static_cast<const Executor::Run*>(context)->fetched(i);
  };
  try {
    fetched->copy(signature->fetches().size(), at, &run);
  } catch (const DeviceError& error) {
    fail<DeviceError>("the run is done, but its values are not copied: ", error.what());
  } catch (const std::bad_alloc&) {
    fail<DeviceError>("the run is done, but its values are not copied: out of memory");
  }
}

}  // namespace paddle_mini::capi

extern "C" {

int pm_executor_create(const pm_options* options, pm_executor* executor) {
  return guarded([&] {
    there(executor, "executor");
    *executor = make_handle<ExecutorObject>(options);
  });
}

int pm_executor_random_state(pm_executor executor, pm_values text) {
  return guarded([&] {
    HeldAs<ExecutorObject> held(executor);
    HeldAs<Values> to(text);
    Values::Use use(*to);
    to->set_texts({held->executor.random_state()});
  });
}

int pm_executor_set_random_state(pm_executor executor, const char* text) {
  return guarded([&] { HeldAs<ExecutorObject>(executor)->executor.set_random_state(text_of(text, "text")); });
}

int pm_signature_create(pm_program program, const char* const* feeds, size_t feed_count, const char* const* fetches,
                        size_t fetch_count, pm_signature* signature) {
  return guarded([&] {
    there(signature, "signature");
    HeldAs<ProgramObject> held(program);
    const Model& model = *held->model;
    std::vector<std::string> fed = model.names(OpRole::Feed), fetched = model.names(OpRole::Fetch);
    if (feeds || feed_count) fed = names_of(feeds, feed_count, "feeds");
    if (fetches || fetch_count) fetched = names_of(fetches, fetch_count, "fetches");
    *signature = make_handle<SignatureObject>(std::make_shared<const Signature>(model.verified(), std::move(fed),
                                                                                std::move(fetched)));
  });
}

int pm_run(pm_executor executor, pm_signature signature, pm_scope scope, const pm_tensor* feeds, size_t feed_count,
           pm_values fetched) {
  return guarded([&] {
    HeldAs<ExecutorObject> runner(executor);
    HeldAs<SignatureObject> called(signature);
    HeldAs<ScopeObject> where(scope);
    OptionalValues values(fetched);
    run_once(runner->executor, runner->options, called->signature, where->scope, feeds, feed_count, values.get());
  });
}

int pm_plan_text(pm_executor executor, pm_signature signature, pm_scope scope, const pm_tensor* feeds,
                 size_t feed_count, const char* stage, pm_values text) {
  return guarded([&] {
    HeldAs<ExecutorObject> runner(executor);
    HeldAs<SignatureObject> called(signature);
    HeldAs<ScopeObject> where(scope);
    HeldAs<Values> to(text);
    Values::Use use(*to);
    std::vector<Tensor> tensors = tensors_of(feeds, feed_count, called->signature->feeds());
    StopPoll stop(runner->options);
    Executor::Run run(runner->executor, called->signature, where->scope);
    to->set_texts({run.plan_text(tensors, text_of(stage, "stage"), stop.function())});
  });
}

}  // extern "C"
