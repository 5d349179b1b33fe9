// Declares the parts of the module _core, one per file. The file that converts a Python object documents its form.
#pragma once

#include <optional>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "core/device_manager.h"
#include "core/scope.h"
#include "program/program.h"

namespace paddle_mini::python {

namespace py = pybind11;

// A file name whose bytes need not be UTF-8: other bytes are "surrogateescape" in Python.
struct FileName {
  std::string text;
  operator const std::string&() const { return text; }
};

// errors.cc: encodes a str. Throws ProgramError for a lone surrogate, and for a NUL in a file name, where the system
// would truncate it.
std::string text_from_python(py::handle text, bool is_file_name);

}  // namespace paddle_mini::python

// Throws ProgramError for a lone surrogate, which UTF-8 can't encode; pybind11 would report an argument of a wrong
// type.
template <>
class pybind11::detail::type_caster<std::string> {
 public:
  PYBIND11_TYPE_CASTER(std::string, const_name("str"));

  bool load(handle from, bool convert) {
    string_caster<std::string> plain;
    if (plain.load(from, convert)) {
      value = static_cast<std::string&&>(std::move(plain));
      return true;
    }
    if (!from || !PyUnicode_Check(from.ptr())) return false;
    value = paddle_mini::python::text_from_python(from, false);
    return true;
  }
  static handle cast(const std::string& text, return_value_policy policy, handle parent) {
    return string_caster<std::string>::cast(text, policy, parent);
  }
};

template <>
class pybind11::detail::type_caster<paddle_mini::python::FileName> {
 public:
  PYBIND11_TYPE_CASTER(paddle_mini::python::FileName, const_name("str"));

  bool load(handle from, bool) {
    if (!from || !PyUnicode_Check(from.ptr())) return false;
    value.text = paddle_mini::python::text_from_python(from, true);
    return true;
  }
  static handle cast(const paddle_mini::python::FileName& name, return_value_policy, handle) {
    return PyUnicode_DecodeUTF8(name.text.data(), static_cast<Py_ssize_t>(name.text.size()), "surrogateescape");
  }
};

namespace paddle_mini::python {

// The runtime of this process; its kernels are loaded once, when the module is imported.
DeviceManager& manager();

void define_errors(py::module_& m);    // errors.cc: Error and its kinds as Python exceptions
void define_program(py::module_& m);   // program.cc: descriptions <-> bytes
void define_operators(py::module_& m); // operators.cc: schemas, checks, gradients
void define_interpreter_end(py::module_& m);   // interpreter_end.cc
void define_python_operators(py::module_& m);  // python_operators.cc: operators whose kernels are Python functions
void define_arrays(py::module_& m);    // arrays.cc: arrays of other libraries
void define_scope(py::module_& m);     // scope.cc
void define_claims(py::module_& m);   // claims.cc: averages applied to parameters
void define_executor(py::module_& m);  // executor.cc
void define_watches(py::module_& m);   // watches.cc: profiles, checks for NaN
void define_files(py::module_& m);     // files.cc: parameter files
void define_states(py::module_& m);    // states.cc: pickled values and safetensors
void define_frames(py::module_& m);    // frames.cc: messages of jobs
void define_blocks(py::module_& m);    // blocks.cc: blocks of a parameter server
void define_devices(py::module_& m);   // devices.cc: available devices
void define_cliques(py::module_& m);   // cliques.cc: sums over the GPUs of several processes
void define_testing(py::module_& m);   // testing.cc: invalid schemas, for tests

// program.cc: an operator is a dict {"type", "inputs": [(slot, [names])], "outputs", "attrs": [(name, type, value)]}.
OpDesc op_from_python(const py::dict& op);
py::dict op_to_python(const OpDesc& op);
Attr attr_from_python(const py::handle& item);
py::list attrs_to_python(const std::vector<Attr>& attrs);
py::object attr_to_python(const AttrValue& value);

// operators.cc: a variable's info is a dict {"kind", "dtype", "shape", "lod_level", "row_count"}.
VarInfo info_from_python(const py::dict& info);
py::dict info_to_python(const VarInfo& info);

// testing.cc: the port that determines the kernel's dtype, and whether it is an output; None: the first port.
py::object dtype_port(const OpSchema& schema);

// interpreter_end.cc: whether the interpreter's end has begun, in a thread other than the ending one. All errors are then
// SystemExit (errors.cc), by which threads of Python end without a message.
bool interpreter_ends();
void require_interpreter();  // OpError if it ends, unless a NeedsGil or a WithoutGil further up the stack lets this thread finish

// While one exists, the interpreter's end waits. After the end has begun, its constructor throws OpError.
class NeedsGil {
 public:
  NeedsGil();
  ~NeedsGil();
  NeedsGil(const NeedsGil&) = delete;
  NeedsGil& operator=(const NeedsGil&) = delete;
};
// Releases the GIL of its thread while it exists, and the interpreter's end waits until the thread has it again. Its
// constructor calls require_interpreter().
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* thread_;
};

// Ends an object that may own work of devices, for which it waits. That may follow a sum of replicas whose threads need
// the GIL.
template <class T>
struct EndWithoutGil {
  void operator()(T* object) const {
    if (!PyGILState_Check()) return delete object;  // inside the end of another such object
    if (interpreter_ends()) return;  // the process ends, too, and must not wait for all that other threads make
    WithoutGil others_run;
    delete object;
  }
};

// python_operators.cc: how often a Python function has kept an array of its inputs.
uint64_t times_arrays_were_kept();
void note_kept_arrays();

// executor.cc: PyErr_CheckSignals, from a thread that has released the GIL.
bool user_wants_to_stop();

// scope.cc: one use of a scope from Python (core/scope.h). A waiting thread releases the GIL, since the thread that
// holds the scope may need the GIL to finish.
class InScope {
 public:
  InScope(Scope& scope, Access access) : use_(scope, access) {
    if (use_.try_begin()) return;
    WithoutGil others_run;
    use_.begin(user_wants_to_stop);
  }
  void end() { use_.end(); }

 private:
  Scope::Use use_;
};

// claims.cc: (name, by, keep) as Scope::Exchange.
using ExchangeTriples = std::vector<std::tuple<std::string, std::string, std::string>>;
std::vector<Scope::Exchange> exchanges_of(const ExchangeTriples& triples);

// scope.cc: sequences.
Lod lod_from_python(const py::object& value, const std::string& name);

// The bytes of a `bytes` object, which must outlive the view.
inline std::string_view view_of_bytes(const py::bytes& bytes) {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// A file's bytes, in an array that read_array() returned or in an object of bytes, in which no array can be changed.
class FileArray {
 public:
  explicit FileArray(const py::object& file);
  operator std::string_view() const {
    return {static_cast<const char*>(bytes_.data()), static_cast<size_t>(bytes_.size())};
  }
  bool is_writable() const { return bytes_.writeable(); }
  // An array in the memory of the file.
  py::array view(const py::dtype& dtype, const std::vector<int64_t>& shape, const void* data) const {
    return py::array(dtype, shape, data, bytes_);
  }

 private:
  py::array bytes_;
};

// arrays.cc: NumPy arrays.
py::dtype numpy_dtype(DType dtype);
DType dtype_from_numpy(const py::dtype& dtype, const std::string& what);
DType dtype_from_name(const std::string& name);
Tensor view_of(const py::array& array,
               const std::string& what);  // views a C-contiguous array, which it does not keep alive
py::array as_array(const py::object& value, const std::string& what, const py::object& dtype = py::none(),
                   bool bits = true);
bool is_masked(const py::object& value);  // whether it is one of NumPy's masked arrays
py::array copy_to_numpy(const Tensor& tensor);
py::object variable_to_python(const Variable& variable);  // array, or (rows, values, height)
// results.cc: a copy as well, whose memory is used again once Python has released it.
py::array result_to_numpy(const Tensor& tensor);
// arrays.cc: a read-only array in the memory of the variable, which keeps its value. The caller uses the scope.
py::array view_of_value(Scope& scope, const std::string& name, const Variable& variable);

}  // namespace paddle_mini::python
