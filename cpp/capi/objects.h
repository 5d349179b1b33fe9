// The objects of the C interface: what their handles name.
#pragma once

#include <mutex>
#include <optional>

#include "capi/tensors.h"
#include "capi/values.h"
#include "executor/executor.h"
#include "program/tensor_file.h"

namespace paddle_mini::capi {

// Created by the first call that needs it, and kept until the process ends: other threads may use it at any time.
DeviceManager& runtime();

// A program as it was read. It may have unknown operators: its parameters can be read and written nevertheless.
class Model {
 public:
  explicit Model(std::string_view bytes);
  const ProgramDesc& desc() const { return desc_; }
  const std::optional<uint32_t>& checksum() const { return checksum_; }  // the parameters saved with it have this one
  std::vector<std::string> parameters() const;  // in the order of their file
  // These throw ProgramError if an operator is invalid. Any thread may call them at any time.
  const std::shared_ptr<const VerifiedProgram>& verified() const;
  const std::vector<std::string>& names(OpRole role) const;  // from feed or fetch operators, by column

 private:
  ProgramDesc desc_;
  std::optional<uint32_t> checksum_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const VerifiedProgram> verified_;
  mutable std::vector<std::string> feeds_, fetches_;
};
std::shared_ptr<const Model> read_model_file(const std::string& path);

// How parameters are checked against a program. A state has names, and no checksum that a program knows.
struct ParameterCheck {
  bool exact = false;  // a state has no other names than the program
  std::optional<uint32_t> checksum;
};
bool is_checked(int check);  // ArgumentError unless it is PM_CHECKED or PM_UNCHECKED
// The check of parameters at a path: the program beside the file, or in the folder, may have their checksum.
ParameterCheck check_at(const std::string& path);

// The parameters of a program from a file of any format, or from a folder with a file for each. Every error comes before a
// scope changes.
Parameters read_parameters_at(const std::string& path, const Model& model, const ParameterCheck& check);
Parameters read_parameters_in(std::string_view bytes, const Model& model, const ParameterCheck& check);
bool is_folder(const std::string& path);

struct ProgramObject : Object {
  static constexpr const char* kKind = "pm_program";
  explicit ProgramObject(std::shared_ptr<const Model> m)
      : Object(kKind), model(std::move(m)), parameters(model->parameters()) {}
  std::shared_ptr<const Model> model;
  std::vector<std::string> parameters;
};

struct ScopeObject : Object {
  static constexpr const char* kKind = "pm_scope";
  ScopeObject() : Object(kKind), scope(std::make_shared<Scope>()) {}
  std::shared_ptr<Scope> scope;
};

struct SignatureObject : Object {
  static constexpr const char* kKind = "pm_signature";
  explicit SignatureObject(std::shared_ptr<const Signature> s) : Object(kKind), signature(std::move(s)) {}
  std::shared_ptr<const Signature> signature;
};

// pm_options, checked; `stop` is called in the thread of a run.
struct Options {
  explicit Options(const pm_options* given);
  ExecutorOptions executor;
  int (*stop)(void*) = nullptr;
  void* context = nullptr;
};

// While it lives, runs of this thread poll the caller's function.
class StopPoll {
 public:
  explicit StopPoll(const Options& options);
  ~StopPoll();
  StopPoll(const StopPoll&) = delete;
  StopPoll& operator=(const StopPoll&) = delete;
  Executor::Stop function() const { return options_.stop ? &poll : nullptr; }

 private:
  static bool poll();
  const Options& options_;
  const Options* before_;
};

struct ExecutorObject : Object {
  static constexpr const char* kKind = "pm_executor";
  explicit ExecutorObject(const pm_options* given)
      : Object(kKind), options(given), executor(runtime(), options.executor) {}
  Options options;
  Executor executor;
};

// Runs, and copies what was fetched. fetched: nullptr if no values are wanted.
void run_once(Executor& executor, const Options& options, const std::shared_ptr<const Signature>& signature,
              const std::shared_ptr<Scope>& scope, const pm_tensor* feeds, size_t count, Values* fetched);

// For a handle that may be 0: the object, or none.
class OptionalValues {
 public:
  explicit OptionalValues(pm_values handle) {
    if (!handle) return;
    held_.emplace(handle);
    use_.emplace(**held_);
  }
  Values* get() const { return held_ ? &**held_ : nullptr; }

 private:
  std::optional<HeldAs<Values>> held_;
  std::optional<Values::Use> use_;
};

template <class T, class... Arguments>
uint64_t make_handle(Arguments&&... arguments) {
  return add_handle(std::make_unique<T>(std::forward<Arguments>(arguments)...));
}

}  // namespace paddle_mini::capi
