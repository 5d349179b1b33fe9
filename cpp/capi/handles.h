// Handles of the C interface: numbers that name objects of a table, so that released and foreign ones are detected.
#pragma once

#include <cstdint>
#include <memory>

#include "core/error.h"

namespace paddle_mini::capi {

// An argument of a C function is invalid.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

class Object {
 public:
  explicit Object(const char* kind) : kind_(kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  const char* kind() const { return kind_; }

 private:
  const char* kind_;  // "scope": the class's kKind
};

struct Slot;

// Holds an object during a call: another thread may release its handle meanwhile.
class Held {
 public:
  explicit Held(uint64_t handle, const char* kind);  // ArgumentError unless the handle names an object of this kind
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 protected:
  Object& object() const;

 private:
  Slot* slot_;
};

// The class T has a constant kKind, and is the only one with it.
template <class T>
class HeldAs : public Held {
 public:
  explicit HeldAs(uint64_t handle) : Held(handle, T::kKind) {}
  T& operator*() const { return static_cast<T&>(object()); }
  T* operator->() const { return &**this; }
};

uint64_t add_handle(std::unique_ptr<Object> object);
void release_handle(uint64_t handle);  // ArgumentError if it is not the handle of an object
size_t handle_count();                 // the objects of the process

}  // namespace paddle_mini::capi
