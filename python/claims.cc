// Replaces parameters by their averages temporarily. These two classes are in C++ because an interrupt can't occur
// between their steps or get lost in a destructor: the next use of the scope, at the latest, restores remaining values.
#include "core/scope.h"
#include "module.h"

namespace paddle_mini::python {
namespace {

void end_claim(Scope& scope, uint64_t claim) {
  scope.leave_claim(claim);  // the next use ends the claim if this one is interrupted
  try {
    InScope use(scope, Access::Change);
    scope.end_claim(claim);
  } catch (const ScopeInUse&) {  // in a signal handler during a run of this thread
  }
}

// The result of apply(): leaving its `with` block restores the parameters' own values.
class Applied {
 public:
  Applied(std::shared_ptr<Scope> scope, uint64_t claim, bool need_restore)
      : scope_(std::move(scope)), claim_(claim), need_restore_(need_restore) {}
  ~Applied() {
    if (need_restore_) scope_->leave_claim(claim_);
  }
  void restore() {
    need_restore_ = false;
    end_claim(*scope_, claim_);
  }
  void exit() {
    if (need_restore_) restore();
  }

 private:
  std::shared_ptr<Scope> scope_;
  uint64_t claim_;
  bool need_restore_;
};

// A claim during preparation: inside its `with` block no other thread can apply averages to these names or change them.
// The claim ends with the block, unless apply() has converted it to an Applied.
class Claim {
 public:
  Claim(std::shared_ptr<Scope> scope, const ExchangeTriples& triples) : scope_(std::move(scope)) {
    std::vector<Scope::Exchange> exchanges = exchanges_of(triples);
    InScope use(*scope_, Access::Change);
    claim_ = scope_->claim(std::move(exchanges));
  }
  ~Claim() {
    if (!handed_on_) scope_->leave_claim(claim_);
  }
  std::unique_ptr<Applied> apply(bool need_restore) {
    auto applied = std::make_unique<Applied>(scope_, claim_, need_restore);
    InScope use(*scope_, Access::Change);
    scope_->substitute(claim_);
    handed_on_ = true;
    return applied;
  }
  void exit() {
    if (!std::exchange(handed_on_, true)) end_claim(*scope_, claim_);
  }

 private:
  std::shared_ptr<Scope> scope_;
  uint64_t claim_ = 0;
  bool handed_on_ = false;
};

}  // namespace

std::vector<Scope::Exchange> exchanges_of(const ExchangeTriples& triples) {
  std::vector<Scope::Exchange> exchanges;
  for (const auto& [name, by, keep] : triples) exchanges.push_back({name, by, keep});
  return exchanges;
}

void define_claims(py::module_& m) {
  py::class_<Applied>(m, "Applied", "The result of apply(): leaving its `with` block restores the raw values.")
      .def("__enter__", [](const Applied&) {})
      .def("__exit__", [](Applied& self, const py::args&) { self.exit(); })
      .def("restore", &Applied::restore);
  py::class_<Claim>(
      m, "Claim",
      "For (name, by, keep) of a scope: inside its `with` block no other thread can apply averages to "
      "these names or change them; ScopeInUse when one of them is claimed already. `by` may be given values there.")
      .def(py::init<std::shared_ptr<Scope>, const ExchangeTriples&>(), py::arg("scope"), py::arg("triples"))
      .def(
          "__enter__", [](Claim& self) -> Claim& { return self; }, py::return_value_policy::reference)
      .def("__exit__", [](Claim& self, const py::args&) { self.exit(); })
      .def("apply", &Claim::apply, py::arg("need_restore") = true,
           "Each name stands for what `by` stood for, and its own value is kept, until the Applied ends.");
}

}  // namespace paddle_mini::python
