// Averages in the place of parameters (core/claim.h). The handles are classes of C++ because no interrupt comes between
// their steps, nor is one lost in a destructor.
#include "core/claim.h"

#include "module.h"

namespace paddle_mini::python {

std::vector<Scope::Exchange> exchanges_of(const ExchangeTriples& triples) {
  std::vector<Scope::Exchange> exchanges;
  for (const auto& [name, by, keep] : triples) exchanges.push_back({name, by, keep});
  return exchanges;
}

void define_claims(py::module_& m) {
  py::class_<SwappedValues>(m, "SwappedValues",
                            "The result of apply(): leaving its `with` block restores the raw values.")
      .def(
          "__enter__", [](const SwappedValues& self) { self.enter(user_wants_to_stop); }, py::call_guard<WithoutGil>())
      .def("__exit__",
           [](SwappedValues& self, const py::args&) {
             WithoutGil others_run;
             self.exit(user_wants_to_stop);
           })
      .def("restore", [](SwappedValues& self) { self.restore(user_wants_to_stop); }, py::call_guard<WithoutGil>());
  py::class_<Claim>(
      m, "Claim",
      "For (name, by, keep) of a scope: inside its `with` block no other thread can apply averages to "
      "these names or change them; ScopeInUse when one of them is claimed already. `by` may be given values there.")
      .def(py::init([](std::shared_ptr<Scope> scope, const ExchangeTriples& triples) {
             WithoutGil others_run;  // no call_guard: pybind11 would change its table of instances in it
             return std::make_unique<Claim>(std::move(scope), exchanges_of(triples), user_wants_to_stop);
           }),
           py::arg("scope"), py::arg("triples"))
      .def(
          "__enter__", [](Claim& self) -> Claim& { return self; }, py::return_value_policy::reference)
      .def("__exit__",
           [](Claim& self, const py::args&) {
             WithoutGil others_run;
             self.exit(user_wants_to_stop);
           })
      .def(
          "apply", [](Claim& self, bool need_restore) { return self.apply(need_restore, user_wants_to_stop); },
          py::arg("need_restore") = true, py::call_guard<WithoutGil>(),
          "Gives each name the value of `by` until the SwappedValues object ends; its own value is kept.");
}

}  // namespace paddle_mini::python
