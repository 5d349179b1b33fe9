// Scope: the named values that outlive a run, such as parameters.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/turn.h"
#include "core/variable.h"

namespace paddle_mini {

// Work on values of a scope that goes on when the run that gave it has returned.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void settle() = 0;  // waits until it is done; throws what it failed with
};

// Pointers to variables stay valid until the variable is erased. `generation` changes whenever a
// variable appears, disappears or changes shape, so that who keeps pointers can tell.
class Scope {
 public:
  Variable* find(const std::string& name) const;  // nullptr when there is none
  Variable& create(const std::string& name);      // the existing one, or a new one without value
  void erase(const std::string& name);            // no-op when there is none

  // Gives the variable this value. Same kind, dtype and shape: the bytes are copied into the memory
  // that is there, so nobody's pointer moves.
  void set(const std::string& name, const Tensor& value);

  // Gives names other values, all of them or, on an error, none: `name` gets what `by` stands for, `by` is gone, and
  // what `name` stood for is kept as `keep`, or dropped where that is empty. Nothing is copied.
  struct Exchange {
    std::string name, by, keep;
  };
  void exchange(const std::vector<Exchange>& exchanges);

  // Runs in one scope take turns, and while there are any nobody else may change what it holds.
  Turn& turn() { return turn_; }
  void require_idle() const;  // OpError while a run uses it, or waits to

  // Who looks at values, or changes them, settles first; at most one plan's work is pending.
  void settle();
  Pending* pending() const { return pending_; }
  void set_pending(Pending* pending) { pending_ = pending; }
  void fail_later(std::exception_ptr error) { late_error_ = error; }  // the next settle() throws it
  // Whether other devices than the host may hold values or be at work on them: then runs never share the scope.
  bool on_devices() const { return on_devices_; }
  void note_devices() { on_devices_ = true; }

  std::vector<std::string> names() const;  // sorted
  uint64_t generation() const { return generation_; }
  void changed() { ++generation_; }
  uint64_t id() const { return id_; }  // never reused in a process

 private:
  void require_alike(const std::string& a, const std::string& b) const;
  static uint64_t next_id();
  uint64_t id_ = next_id();
  uint64_t generation_ = 1;
  Turn turn_;
  Pending* pending_ = nullptr;
  std::exception_ptr late_error_;
  std::atomic<bool> on_devices_{false};
  std::unordered_map<std::string, std::unique_ptr<Variable>> variables_;
};

}  // namespace paddle_mini
