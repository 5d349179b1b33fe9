// Handles: what the library gives out for its objects, so that one that was released, or never was one, is told apart.
#pragma once

#include <memory>

#include "optimizer/optimizer.h"

namespace paddle_mini {

class Busy : public Error {
 public:
  using Error::Error;
};

// A handle is never dereferenced: it says which place of a table, and which of its tenants.
class Handle {
 public:
  static void* add(std::unique_ptr<ParameterOptimizer> object);
  static void release(const void* handle);  // ProgramError, Busy

  // The object for one call of this thread. ProgramError where there is none, Busy while another thread has it.
  explicit Handle(const void* handle);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ParameterOptimizer& operator*() const;
  ParameterOptimizer* operator->() const { return &**this; }

 private:
  struct Place;
  friend class HandleTable;
  Place* place_;
  uint64_t tenant_;
};

}  // namespace paddle_mini
