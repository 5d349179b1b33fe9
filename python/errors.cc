// Maps C++ errors to Python exceptions: paddle_mini.Error and its subclasses; Interrupted becomes KeyboardInterrupt. While the
// interpreter ends, which stops the work of other threads, each of their errors becomes SystemExit.
#include "core/error.h"
#include "core/session_lock.h"
#include "core/user_code.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

// Returns none, with Python's error set, if the `errors` handler (module codecs) can't encode a character.
std::optional<std::string> encoded(const py::handle& text, const char* errors) {
  auto bytes = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", errors));
  if (!bytes) return std::nullopt;
  return bytes.cast<std::string>();
}

// Sets Python's error and the exception that caused it; throws the error on if there is none.
void raise_with_cause(py::handle type, const Error& error) {
  auto* cause = dynamic_cast<const Cause*>(&error);
  if (!cause) throw;
  auto* exception = static_cast<PyObject*>(cause->exception());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  py::raise_from(type.ptr(), error.what());
}

}  // namespace

std::string text_from_python(py::handle text, bool is_file_name) {
  std::optional<std::string> bytes = encoded(text, is_file_name ? "surrogateescape" : "strict");
  if (!bytes) {
    PyErr_Clear();
    fail<ProgramError>("'", printable(encoded(text, "backslashreplace").value_or("")),
                       "' contains a lone surrogate, so it can't be encoded as UTF-8");
  }
  bool is_cut_off = is_file_name && bytes->find('\0') != std::string::npos;
  require<ProgramError>(!is_cut_off, "'", printable(*bytes), "' is not the name of a file: it has a zero byte");
  return *bytes;
}

void define_errors(py::module_& m) {
  // pybind11 tries translators from the last registered one on, so the base is registered first.
  auto base = py::register_exception<Error>(m, "Error", PyExc_Exception);
  auto program_error = py::register_exception<ProgramError>(m, "ProgramError", base);
  auto shape_error = py::register_exception<ShapeError>(m, "ShapeError", base);
  auto op_error = py::register_exception<OpError>(m, "OpError", base);
  py::register_exception<ScopeInUse>(m, "ScopeInUse", op_error);
  py::register_exception<DeviceError>(m, "DeviceError", base);
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Interrupted&) {
      // After Ctrl-C, the signal handler has already set the exception.
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  // Objects of Python live as long as the module, which is never unloaded.
  static const py::handle program = program_error, shape = shape_error, op = op_error;
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const ProgramError& error) { raise_with_cause(program, error); } catch (const ShapeError& error) {
      raise_with_cause(shape, error);
    } catch (const OpError& error) { raise_with_cause(op, error); }
  });
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Error&) {
      if (!interpreter_ends()) throw;
      PyErr_SetNone(PyExc_SystemExit);
    }
  });
  m.def(
      "printable",
      [](const py::object& name, size_t limit) {
        return printable(encoded(py::str(name), "backslashreplace").value_or(""), limit);
      },
      py::arg("name"), py::arg("limit") = 200,
      "A name as messages show it: control characters as '?', and at most so many bytes.");
  const std::pair<const char*, const char*> docs[] = {
      {"Error",
       "The base class of all errors of paddle_mini. docs/errors.md lists messages, their causes and remedies."},
      {"ProgramError",
       "A program, file or argument is invalid: bytes, structure, an unknown name, a missing port, a wrong attribute."},
      {"ShapeError", "Two shapes or dtypes disagree: of variables, fed values, or values in a file."},
      {"OpError", "An operator can't compute with its data: an id out of range, a variable without a value."},
      {"ScopeInUse", "Another use of the scope must end first. It is raised before anything is changed."},
      {"DeviceError", "A device or its kernel is missing, or memory is exhausted."},
  };
  for (auto [name, doc] : docs) {
    m.attr(name).attr("__module__") = "paddle_mini";
    m.attr(name).attr("__doc__") = doc;
  }
}

}  // namespace paddle_mini::python
