// Errors of C++ as Python exceptions: paddle_mini.Error and its kinds; Interrupted is KeyboardInterrupt.
#include "core/error.h"

#include "module.h"

namespace paddle_mini::python {

void define_errors(py::module_& m) {
  // The translator is tried from the last one registered, so the base comes first.
  auto base = py::register_exception<Error>(m, "Error", PyExc_Exception);
  py::register_exception<ProgramError>(m, "ProgramError", base);
  py::register_exception<ShapeError>(m, "ShapeError", base);
  py::register_exception<OpError>(m, "OpError", base);
  py::register_exception<DeviceError>(m, "DeviceError", base);
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Interrupted&) {
      // The signal handler has set the exception already when it was Ctrl-C.
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  for (const char* name : {"Error", "ProgramError", "ShapeError", "OpError", "DeviceError"}) {
    m.attr(name).attr("__module__") = "paddle_mini";
  }
}

}  // namespace paddle_mini::python
