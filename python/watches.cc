// Observers of runs for Python: profiles, and checks for NaN.
#include "executor/run_watch.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

py::list infos_to_python(const std::vector<std::vector<VarInfo>>& slots) {
  py::list result;
  for (const auto& slot : slots) {
    py::list infos;
    for (const VarInfo& info : slot) infos.append(info_to_python(info));
    result.append(infos);
  }
  return result;
}

py::dict site_to_python(const ProfileSite& site) {
  py::list ops;
  for (const ProfiledOp& op : site.ops) {
    ops.append(py::dict(py::arg("op") = op_to_python(op.op->desc), py::arg("block") = op.block,
                        py::arg("index") = op.index, py::arg("inputs") = infos_to_python(op.inputs),
                        py::arg("outputs") = infos_to_python(op.outputs)));
  }
  const char* lane = site.lane == Lane::ToHost ? "to host" : site.lane == Lane::ToDevice ? "to device" : "compute";
  return py::dict(py::arg("ops") = ops, py::arg("place") = name_of(site.place), py::arg("lane") = lane,
                  py::arg("calls") = site.calls, py::arg("microseconds") = site.microseconds);
}

py::list sites_of(const Profile& profile) {
  py::list sites;
  for (const ProfileSite& site : profile.sites()) sites.append(site_to_python(site));
  return sites;
}

py::list events_of(const Profile& profile) {
  py::list events;
  for (const ProfileEvent& event : profile.events()) {
    events.append(py::make_tuple(event.site, event.thread, event.run, event.begin, event.duration));
  }
  return events;
}

py::list runs_of(const Profile& profile) {
  py::list runs;
  for (const ProfiledRun& run : profile.runs())
    runs.append(py::make_tuple(run.number, run.thread, run.begin, run.duration));
  return runs;
}

}  // namespace

void define_watches(py::module_& m) {
  py::class_<Profile, std::shared_ptr<Profile>>(m, "Profile", "Times of the operators of all runs of the process.")
      .def(py::init<size_t>(), py::arg("most_events"))
      .def("start", [](const std::shared_ptr<Profile>& profile) { set_profile(profile); })
      .def("stop", [](const Profile&) { set_profile(nullptr); })
      .def("sites", &sites_of, "{ops, place, lane, calls, microseconds} for each step.")
      .def("events", &events_of, "(site, thread, run, begin, duration), in microseconds.")
      .def("runs", &runs_of, "(run, thread, begin, duration), in microseconds.")
      .def("dropped", &Profile::dropped, "The number of events that were not kept.");
  py::class_<FiniteCheck, std::shared_ptr<FiniteCheck>>(m, "FiniteCheck",
                                                        "Refuses NaN and infinities in the outputs of all runs.")
      .def(py::init<bool>(), py::arg("infinities"))
      .def("start", [](const std::shared_ptr<FiniteCheck>& check) { set_finite_check(check); })
      .def("stop", [](const FiniteCheck&) { set_finite_check(nullptr); });
}

}  // namespace paddle_mini::python
