// The C functions of predictors: a model whose calls run at the same time, each with an executor of its own.
#include "capi/objects.h"
#include "capi/status.h"
#include "program/files.h"

using namespace paddle_mini;
using namespace paddle_mini::capi;

namespace {

// Clones share this.
struct SharedModel {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Signature> signature;
  std::shared_ptr<Scope> scope;
};

SharedModel shared_model(std::shared_ptr<const Model> model, std::shared_ptr<Scope> scope) {
  const std::vector<std::string>& fetches = model->names(OpRole::Fetch);
  require<ProgramError>(!fetches.empty(), "the program fetches nothing: it is not an inference model");
  auto signature = std::make_shared<const Signature>(model->verified(), model->names(OpRole::Feed), fetches);
  return {std::move(model), std::move(signature), std::move(scope)};
}

SharedModel load_model(const std::string& prefix, bool check) {
  std::string file = prefix + ".pdmodel", parameters = prefix + ".pdiparams";
  if (is_folder(prefix) && !is_there(file)) file = prefix + "/__model__", parameters = prefix;
  std::shared_ptr<const Model> model = read_model_file(file);
  auto scope = std::make_shared<Scope>();
  if (!model->parameters().empty()) {
    ParameterCheck checks;
    if (check) checks = {true, model->checksum()};
    set_parameters(*scope, read_parameters_at(parameters, *model, checks));
  }
  return shared_model(std::move(model), std::move(scope));
}

class PredictorObject : public Object {
 public:
  static constexpr const char* kKind = "pm_predictor";
  PredictorObject(SharedModel model, const Options& options)
      : Object(kKind), model_(std::move(model)), options_(options) {
    give_back(new_executor());
  }

  void run(const pm_tensor* inputs, size_t count, Values* outputs) {
    Lease lease(*this);
    run_once(*lease.executor, options_, model_.signature, model_.scope, inputs, count, outputs);
  }

  void warm_up(const pm_tensor* inputs, size_t count, size_t calls) {
    require<ArgumentError>(calls >= 1 && calls <= 1 << 16, "calls is ", calls, ", it must be from 1 to 65536");
    std::vector<std::unique_ptr<Lease>> leases;
    for (size_t i = 0; i < calls; ++i) {
      leases.push_back(std::make_unique<Lease>(*this));
      run_once(*leases.back()->executor, options_, model_.signature, model_.scope, inputs, count, nullptr);
    }
  }

  size_t prepared() {
    std::lock_guard<std::mutex> lock(mutex_);
    return made_;
  }
  const SharedModel& model() const { return model_; }

 private:
  // An executor for one call. After an error it can be used again.
  struct Lease {
    explicit Lease(PredictorObject& owner) : predictor(owner), executor(owner.take()) {}
    ~Lease() { predictor.give_back(std::move(executor)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    PredictorObject& predictor;
    std::unique_ptr<Executor> executor;
  };

  std::unique_ptr<Executor> take() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Executor> last = std::move(free_.back());  // the latest one: its memory may be in the cache
        free_.pop_back();
        return last;
      }
    }
    return new_executor();
  }
  std::unique_ptr<Executor> new_executor() {
    auto made = std::make_unique<Executor>(runtime(), options_.executor);
    std::lock_guard<std::mutex> lock(mutex_);
    free_.reserve(made_ + 1);  // so that give_back() never allocates
    ++made_;
    return made;
  }
  void give_back(std::unique_ptr<Executor> executor) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(executor));
  }

  SharedModel model_;
  Options options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Executor>> free_;
  size_t made_ = 0;
};

size_t bytes_of(Scope& scope) {
  Scope::Use use(scope, Access::Read);
  use.begin();
  size_t bytes = 0;
  for (const std::string& name : scope.names()) {
    const Variable* variable = scope.find(name);
    if (variable->has_value() && holds_tensor(variable->kind)) bytes += variable->tensor.bytes();
  }
  return bytes;
}

}  // namespace

extern "C" {

int pm_predictor_load(const char* prefix, const pm_options* options, int check, pm_predictor* predictor) {
  return guarded([&] {
    there(predictor, "predictor");
    const bool checks = is_checked(check);
    Options checked(options);
    *predictor = make_handle<PredictorObject>(load_model(text_of(prefix, "prefix"), checks), checked);
  });
}

int pm_predictor_create(pm_program program, pm_scope scope, const pm_options* options, pm_predictor* predictor) {
  return guarded([&] {
    there(predictor, "predictor");
    HeldAs<ProgramObject> model(program);
    HeldAs<ScopeObject> parameters(scope);
    *predictor = make_handle<PredictorObject>(shared_model(model->model, parameters->scope), Options(options));
  });
}

int pm_predictor_clone(pm_predictor predictor, const pm_options* options, pm_predictor* clone) {
  return guarded([&] {
    there(clone, "clone");
    HeldAs<PredictorObject> held(predictor);
    *clone = make_handle<PredictorObject>(held->model(), Options(options));
  });
}

int pm_predictor_run(pm_predictor predictor, const pm_tensor* inputs, size_t count, pm_values outputs) {
  return guarded([&] {
    HeldAs<PredictorObject> held(predictor);
    OptionalValues values(outputs);
    held->run(inputs, count, values.get());
  });
}

int pm_predictor_warm_up(pm_predictor predictor, const pm_tensor* inputs, size_t count, size_t calls) {
  return guarded([&] { HeldAs<PredictorObject>(predictor)->warm_up(inputs, count, calls); });
}

int pm_predictor_memory(pm_predictor predictor, size_t* parameter_bytes, size_t* prepared_calls) {
  return guarded([&] {
    HeldAs<PredictorObject> held(predictor);
    if (parameter_bytes) *parameter_bytes = bytes_of(*held->model().scope);
    if (prepared_calls) *prepared_calls = held->prepared();
  });
}

int pm_predictor_program(pm_predictor predictor, pm_program* program) {
  return guarded([&] {
    there(program, "program");
    *program = make_handle<ProgramObject>(HeldAs<PredictorObject>(predictor)->model().model);
  });
}

}  // extern "C"
