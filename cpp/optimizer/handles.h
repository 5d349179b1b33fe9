// Handle: checked references to the library's objects; they detect released objects and invalid pointers.
#pragma once

#include <memory>

#include "optimizer/optimizer.h"

namespace paddle_mini {

class Busy : public Error {
 public:
  using Error::Error;
};

// A handle is never dereferenced: it encodes a slot of a table and the generation of its object.
class Handle {
 public:
  static void* add(std::unique_ptr<ParameterOptimizer> object);
  static void release(const void* handle);  // throws ProgramError or Busy

  // Acquires the object for one call of this thread. Throws ProgramError if it does not exist, Busy while another
  // thread uses it.
  explicit Handle(const void* handle);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ParameterOptimizer& operator*() const;
  ParameterOptimizer* operator->() const { return &**this; }

 private:
  struct Slot;
  friend class HandleTable;
  Slot* slot_;
  uint64_t generation_;
};

}  // namespace paddle_mini
