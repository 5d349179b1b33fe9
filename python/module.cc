// _core: the C++ side of paddle_mini as a Python module.
#include "module.h"

namespace paddle_mini::python {

const KernelLibrary& kernel_library() {
  static const KernelLibrary library = load_kernel_library();
  return library;
}

}  // namespace paddle_mini::python

PYBIND11_MODULE(_core, m) {
  namespace python = paddle_mini::python;
  m.doc() = "Programs, scopes and the executor of paddle_mini, in C++.";
  python::define_errors(m);
  python::define_program(m);
  python::define_operators(m);
  python::define_scope(m);
  python::define_executor(m);
  python::define_files(m);
  m.def("kernel_library", [] {
    const auto& library = python::kernel_library();
    return python::py::dict(python::py::arg("level") = library.level, python::py::arg("path") = library.path,
                            python::py::arg("reason") = library.reason);
  });
  m.def("processor_levels", &paddle_mini::processor_levels);
}
