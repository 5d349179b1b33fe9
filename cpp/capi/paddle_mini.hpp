// paddle_mini.hpp: the C interface for C++17: objects that release their handles, and exceptions. Only this header is needed.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "paddle_mini.h"

namespace pm {

// status: PM_ERROR_SHAPE and others, PM_STOPPED.
class Error : public std::runtime_error {
 public:
  Error(int status, const char* message) : std::runtime_error(message), status(status) {}
  int status;
};

inline void check(int status) {
  if (status != PM_OK) throw Error(status, pm_last_error());
}

inline void load_operators(const std::string& path) { check(pm_load_operators(path.c_str())); }

// Owns a handle. Moving leaves 0, which every function refuses.
class Handle {
 public:
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { pm_release(handle_); }
  uint64_t handle() const { return handle_; }

 protected:
  Handle() = default;
  explicit Handle(uint64_t handle) : handle_(handle) {}
  uint64_t handle_ = 0;
};

// The number of an element type in programs.
template <class T>
constexpr int32_t dtype_of() {
  if constexpr (std::is_same_v<T, float>) return PM_FLOAT32;
  else if constexpr (std::is_same_v<T, double>) return PM_FLOAT64;
  else if constexpr (std::is_same_v<T, bool>) return PM_BOOL;
  else if constexpr (std::is_same_v<T, int64_t>) return PM_INT64;
  else if constexpr (std::is_same_v<T, int32_t>) return PM_INT32;
  else if constexpr (std::is_same_v<T, int16_t>) return PM_INT16;
  else if constexpr (std::is_same_v<T, int8_t>) return PM_INT8;
  else {
    static_assert(std::is_same_v<T, uint8_t>, "programs have no such element type");
    return PM_UINT8;
  }
}

// A view of an array of the caller; `count` elements at `data` must be those of the shape.
template <class T>
pm_tensor tensor(const T* data, size_t count, const std::vector<int64_t>& shape) {
  if (shape.size() > PM_MOST_DIMS) throw Error(PM_ERROR_SHAPE, "an array has more than 9 dimensions");
  pm_tensor made{};
  made.data = data;
  made.bytes = count * sizeof(T);
  made.dtype = dtype_of<T>();
  made.rank = static_cast<int32_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) made.shape[i] = shape[i];
  return made;
}
template <class T>
pm_tensor tensor(const std::vector<T>& values, const std::vector<int64_t>& shape) {
  return tensor(values.data(), values.size(), shape);
}

class Values : public Handle {
 public:
  Values() { check(pm_values_create(&handle_)); }
  size_t size() const {
    size_t count = 0;
    check(pm_values_count(handle_, &count));
    return count;
  }
  // Valid until these values are filled again.
  pm_tensor at(size_t index, size_t element = 0) const {
    pm_tensor found{};
    check(pm_values_get(handle_, index, element, &found));
    return found;
  }
  template <class T>
  std::vector<T> copy(size_t index) const {
    pm_tensor found = at(index);
    if (found.dtype != dtype_of<T>()) throw Error(PM_ERROR_SHAPE, "the value has another element type");
    const T* begin = static_cast<const T*>(found.data);
    return std::vector<T>(begin, begin + found.bytes / sizeof(T));
  }
  std::string text(size_t index = 0) const {
    const char* found = nullptr;
    check(pm_values_text(handle_, index, &found));
    return found;
  }
};

class Program : public Handle {
 public:
  static Program load(std::string_view bytes) {
    Program made;
    check(pm_program_load(bytes.data(), bytes.size(), &made.handle_));
    return made;
  }
  static Program load_file(const std::string& path) {
    Program made;
    check(pm_program_load_file(path.c_str(), &made.handle_));
    return made;
  }
  // which: PM_FEEDS, PM_FETCHES or PM_PARAMETERS
  std::vector<std::string> names(int which) const {
    size_t count = 0;
    check(pm_program_count(handle_, which, &count));
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      check(pm_program_name(handle_, which, i, &name));
      names.emplace_back(name);
    }
    return names;
  }

 private:
  Program() = default;
};

class Scope : public Handle {
 public:
  Scope() { check(pm_scope_create(&handle_)); }
  void load(const Program& program, const std::string& path, int how = PM_CHECKED) {
    check(pm_scope_load(handle_, program.handle(), path.c_str(), how));
  }
  void save(const Program& program, const std::string& path) const {
    check(pm_scope_save(handle_, program.handle(), path.c_str()));
  }
  void set(const std::string& name, const pm_tensor& value) { check(pm_scope_set(handle_, name.c_str(), &value)); }
  void get(const std::string& name, Values& values) const {
    const char* names[] = {name.c_str()};
    check(pm_scope_get(handle_, names, 1, values.handle()));
  }
  void wait() { check(pm_scope_wait(handle_)); }
};

class Signature : public Handle {
 public:
  // The program's own feeds and fetches.
  explicit Signature(const Program& program) {
    check(pm_signature_create(program.handle(), nullptr, 0, nullptr, 0, &handle_));
  }
  Signature(const Program& program, const std::vector<std::string>& feeds, const std::vector<std::string>& fetches) {
    std::vector<const char*> fed = pointers(feeds), fetched = pointers(fetches);
    check(pm_signature_create(program.handle(), fed.data(), feeds.size(), fetched.data(), fetches.size(), &handle_));
  }

 private:
  // Never without an address: NULL would be the program's own names.
  static std::vector<const char*> pointers(const std::vector<std::string>& names) {
    std::vector<const char*> pointers;
    pointers.reserve(names.size() + 1);
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return pointers;
  }
};

// Options with their size; set the other fields.
inline pm_options options() {
  pm_options made{};
  made.size = sizeof made;
  return made;
}

class Executor : public Handle {
 public:
  explicit Executor(const pm_options& options = pm::options()) { check(pm_executor_create(&options, &handle_)); }
  // Returns false if `stop` of the options ended the run.
  bool run(const Signature& signature, Scope& scope, const std::vector<pm_tensor>& feeds = {},
           Values* fetched = nullptr) {
    int status = pm_run(handle_, signature.handle(), scope.handle(), feeds.data(), feeds.size(),
                        fetched ? fetched->handle() : 0);
    if (status != PM_STOPPED) check(status);
    return status == PM_OK;
  }
};

class Predictor : public Handle {
 public:
  explicit Predictor(const std::string& prefix, const pm_options& options = pm::options(), int how = PM_CHECKED) {
    check(pm_predictor_load(prefix.c_str(), &options, how, &handle_));
  }
  Predictor clone(const pm_options& options = pm::options()) const {
    Predictor made;
    check(pm_predictor_clone(handle_, &options, &made.handle_));
    return made;
  }
  void run(const std::vector<pm_tensor>& inputs, Values& outputs) const {
    check(pm_predictor_run(handle_, inputs.data(), inputs.size(), outputs.handle()));
  }

 private:
  Predictor() = default;
};

}  // namespace pm
