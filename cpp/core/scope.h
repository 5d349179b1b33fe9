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

// Any thread may use a scope at any time. Every use takes a turn (Scope::Use) with one of these accesses:
//
//   access       who                                                           with others
//   Read         get, get_rows, lod, info, place, names, in, saving            together; waits for those below
//   ReadingRun   runs of programs that write no variable of the scope          together; waits for those below
//   Run          all other runs, plan_text                                     alone; waits
//   Change       exchange, apply() and its end, restore, settle                alone; waits
//   Edit         set, set_rows, erase, loading                                 alone; waits, but while a run is at work, or
//                                                                              waits to be, it is refused: ScopeInUse
//
// Where values may lie on devices, Read and ReadingRun go on alone too, and begin when the devices are done. A use
// inside another one of the same thread begins at once or is refused (turn.h). A use that waits can be interrupted. A
// name whose value is substituted can't be changed until its own value is back: ScopeInUse.
//
// Pointers to variables stay valid until the variable is erased. `generation` changes whenever a
// variable appears, disappears or changes shape, so that who keeps pointers can tell.
//
// It has many methods because the values, the claims on their names and what devices still do to them are one state: a
// use of the scope sees all three, or changes all three, in one turn.
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

  // Other values in the place of these names for a while, such as averages in that of parameters: `name` stands for what
  // `by` stood for, its own value is kept as `keep`. The names belong to the claim until it ends.
  uint64_t claim(std::vector<Exchange> names);  // ScopeInUse where one of them is claimed or kept already
  void substitute(uint64_t claim);              // OpError or ShapeError, and nothing is done, as exchange()
  void end_claim(uint64_t claim);  // own values are back, `by` and `keep` are gone; no-op when it has ended
  void leave_claim(uint64_t claim) noexcept;  // needs no turn: the next use of the scope ends it
  void restore(
      const std::vector<Exchange>& names);  // ends every claim of one of these names, and erases what `by` says
  // For a name that is about to be changed: ScopeInUse when it is claimed.
  void require_unclaimed(const std::string& name) const;
  bool has_claims() const { return !claims_.empty(); }

  class Use;

  // Who looks at values, or changes them, settles first; at most one plan's work is pending.
  void settle();
  Pending* pending() const { return pending_; }
  void set_pending(Pending* pending) { pending_ = pending; }
  void fail_later(std::exception_ptr error) { late_error_ = error; }  // the next settle() throws it
  // Whether other devices than the host may hold values or be at work on them: then runs never share the scope.
  bool on_devices() const { return on_devices_; }
  void note_devices() { on_devices_ = true; }

  std::vector<std::string> names() const;  // sorted
  uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }
  void changed() { ++generation_; }
  uint64_t id() const { return id_; }  // never reused in a process

 private:
  struct Claim {
    uint64_t id;
    std::vector<Exchange> names;
    bool has(const std::string& name) const;
  };
  void require_alike(const std::string& a, const std::string& b) const;
  void take_back(const Exchange& one);
  void end_left_claims();
  bool must_tidy() const { return on_devices_ || has_left_; }
  static uint64_t next_id();
  uint64_t id_ = next_id();
  std::atomic<uint64_t> generation_{1};
  Turn turn_;
  Pending* pending_ = nullptr;
  std::exception_ptr late_error_;
  std::atomic<bool> on_devices_{false};
  std::vector<Claim> claims_;
  std::mutex left_mutex_;
  std::vector<uint64_t> left_;  // claims that are to be ended
  std::atomic<bool> has_left_{false};
  std::unordered_map<std::string, std::unique_ptr<Variable>> variables_;
};

// One use of a scope. Once it has begun, no device is at work on the values. Only a run may begin before that: it goes on
// with the pending work (Session) or settles it.
class Scope::Use {
 public:
  Use(Scope& scope, Access access) : scope_(scope), turn_(scope.turn_, "a program in this scope"), access_(access) {}
  bool try_begin();  // false: begin() may have to wait
  void begin(bool (*stop)() = nullptr);  // no-op after try_begin(); Interrupted when `stop` says so
  void end() { turn_.end(); }

 private:
  Scope& scope_;
  Turn::Use turn_;
  Access access_;
};

}  // namespace paddle_mini
