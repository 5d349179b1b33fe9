// Scope: the named values that outlive a run, such as parameters.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/packed_store.h"
#include "core/session_lock.h"
#include "core/shared_values.h"
#include "core/variable.h"

namespace paddle_mini {

// Asynchronous work on values of a scope that continues after its run has returned. Its end waits for the work.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void synchronize() = 0;  // waits until it is done; throws its error
};

// Any thread may use a scope at any time. Every use acquires it (Scope::Use) with one of these accesses:
//
//   access       operations                                                     concurrency
//   Read         get, get_rows, lod, info, place, names, in, saving             shared; waits for the exclusive ones
//   ReadingRun   runs of programs that write no variable of the scope           shared; waits for the exclusive ones
//   Run          all other runs, plan_text                                      exclusive; waits
//   Change       exchange, apply() and its end, restore, synchronize            exclusive; waits
//   Edit         set, set_rows, erase, loading                                  exclusive; waits, but throws ScopeInUse
//                                                                               if a run executes or waits
//
// If values may lie on devices, Read and ReadingRun are exclusive too, and begin when the devices are done. A use
// nested in another one of the same thread begins at once or throws (session_lock.h). Waiting can be interrupted. A substituted
// name can't be changed until its own value is restored: ScopeInUse.
//
// Pointers to variables stay valid until the variable is erased. `generation` changes whenever a variable appears,
// disappears or changes shape, so that holders of pointers can detect it.
//
// It has many methods because the values, the claims on their names and what devices still do to them are one state: a
// use of the scope sees all three, or changes all three, under one lock.
class Scope {
 public:
  ~Scope() { pending_.reset(); }  // it waits for work on the values, which must not end first
  Variable* find(const std::string& name) const;  // nullptr if absent
  Variable& create(const std::string& name);      // the existing one, or a new one without value
  void erase(const std::string& name);            // no-op if absent

  // Sets the variable's value. If kind, dtype and shape are the same, and no reader holds it, the bytes are copied into
  // the existing memory, so pointers stay valid.
  void set(const std::string& name, const Tensor& value);
  // Values that come in parts, in their order: all of the variables get theirs or, on an error, none. ShapeError where parts
  // are not all of a value.
  struct InParts {
    std::string name;
    DType dtype;
    Shape shape;
    std::vector<Tensor> parts;
  };
  void set(const std::vector<InParts>& values);
  // The same as the first for a variable of this scope, which takes the memory of the value instead of allocating some.
  void give(Variable& variable, Tensor value);

  // The bytes of a value on the host, for a reader outside of the scope. They stay as they are while it holds the result:
  // the variable gets other memory before it is written.
  std::shared_ptr<const void> share(const Tensor& value) { return shared_.share(value); }
  // Before these variables are written: gives other memory, with the same bytes, to those that readers hold.
  void stop_sharing(const std::set<std::string>& names);

  // Replaces the values of names, all of them or, on an error, none: `name` gets the value of `by`, which is erased;
  // the old value of `name` is stored as `keep`, or dropped if that is empty. Nothing is copied. OpError if one of all these
  // names occurs twice.
  struct Exchange {
    std::string name, by, keep;
  };
  void exchange(const std::vector<Exchange>& exchanges);

  // Temporary replacement of values, for example of parameters by averages: `name` gets the value of `by`, and its own
  // value is stored as `keep`. The names belong to the claim until it ends.
  uint64_t claim(std::vector<Exchange> names);  // ScopeInUse if one is claimed or kept
  void substitute(uint64_t claim);  // errors as exchange(), without effect
  void end_claim(uint64_t claim);  // restores own values, erases `by` and `keep`; no-op if it has ended
  void leave_claim(uint64_t claim) noexcept;  // without acquiring: the next use ends it
  void restore(const std::vector<Exchange>& names);  // ends every claim of these names and erases their `by`
  // Throws ScopeInUse if the name is claimed; called before it is changed.
  void require_unclaimed(const std::string& name) const;
  bool has_claims() const { return !claims_.empty(); }
  bool has_claim(uint64_t claim) const;  // false if it has ended

  class Use;

  // Called before values are read or changed; only one plan's work is pending at a time.
  void synchronize();
  const Pending* pending() const { return pending_.get(); }
  void set_pending(std::shared_ptr<Pending> pending) { pending_ = std::move(pending); }
  void fail_later(std::exception_ptr error) { late_error_ = error; }  // the next synchronize() throws it
  // Whether devices other than the host may hold or use values: then runs never share the scope.
  bool on_devices() const { return on_devices_; }
  void note_devices() { on_devices_ = true; }

  std::vector<std::string> names() const;  // sorted
  uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }
  void changed() { ++generation_; }
  uint64_t id() const { return id_; }  // never reused in a process
  // Another number for each use that may have changed values.
  uint64_t values_version() const { return values_version_.load(std::memory_order_relaxed); }
  const std::shared_ptr<PackedStore>& packed() const { return packed_; }

 private:
  struct Claim {
    uint64_t id;
    std::vector<Exchange> names;
    bool has(const std::string& name) const;
  };
  // Whether such a value fits into the variable's memory, which no reader holds.
  bool fits(const Variable& variable, DType dtype, const Shape& shape);
  void require_alike(const std::string& a, const std::string& b) const;
  void take_back(const Exchange& one);
  void end_left_claims();
  bool must_tidy() const { return on_devices_ || has_left_; }
  static uint64_t next_id();
  uint64_t id_ = next_id();
  std::atomic<uint64_t> generation_{1}, values_version_{1};
  std::shared_ptr<PackedStore> packed_ = std::make_shared<PackedStore>();
  SessionLock lock_;
  std::shared_ptr<Pending> pending_;  // its executor may have ended
  std::exception_ptr late_error_;
  std::atomic<bool> on_devices_{false};
  std::vector<Claim> claims_;
  std::mutex left_mutex_;
  std::vector<uint64_t> left_;  // claims that the next use must end
  std::atomic<bool> has_left_{false};
  SharedValues shared_;
  std::unordered_map<std::string, std::unique_ptr<Variable>> variables_;
};

// One use of a scope. Once it has begun, no device uses the values. Only a run may begin earlier: it chains to the
// pending work (Session) or waits for it.
class Scope::Use {
 public:
  Use(Scope& scope, Access access) : scope_(scope), lock_(scope.lock_, "a program in this scope"), access_(access) {}
  bool try_begin();  // false: begin() might block
  void begin(bool (*stop)() = nullptr);  // no-op after try_begin(); Interrupted if `stop` is true
  void end() { lock_.end(); }

 private:
  void note_exclusive() { ++scope_.values_version_; }
  Scope& scope_;
  SessionLock::Use lock_;
  Access access_;
};

}  // namespace paddle_mini
