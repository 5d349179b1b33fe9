// Errors of C++ as Python exceptions: paddle_mini.Error and its kinds; Interrupted is KeyboardInterrupt.
#include "core/error.h"
#include "core/turn.h"

#include "module.h"

namespace paddle_mini::python {

void define_errors(py::module_& m) {
  // The translator is tried from the last one registered, so the base comes first.
  auto base = py::register_exception<Error>(m, "Error", PyExc_Exception);
  py::register_exception<ProgramError>(m, "ProgramError", base);
  py::register_exception<ShapeError>(m, "ShapeError", base);
  auto op_error = py::register_exception<OpError>(m, "OpError", base);
  py::register_exception<ScopeInUse>(m, "ScopeInUse", op_error);
  py::register_exception<DeviceError>(m, "DeviceError", base);
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Interrupted&) {
      // The signal handler has set the exception already when it was Ctrl-C.
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  m.def("printable", [](const py::object& name, size_t limit) {
    // A name from a file may hold incomplete characters, which are not UTF-8.
    auto bytes = py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(py::str(name).ptr(), "utf-8", "replace"));
    if (!bytes) throw py::error_already_set();
    return printable(static_cast<std::string>(bytes), limit);
  }, py::arg("name"), py::arg("limit") = 200, "A name as messages show it: control characters as '?', and at most so many bytes.");
  for (const char* name : {"Error", "ProgramError", "ShapeError", "OpError", "ScopeInUse", "DeviceError"}) {
    m.attr(name).attr("__module__") = "paddle_mini";
  }
}

}  // namespace paddle_mini::python
