// _core: the C++ side of paddle_mini as a Python module.
#include "module.h"

PYBIND11_MODULE(_core, m) {
  namespace python = paddle_mini::python;
  m.doc() = "Programs, scopes and the executor of paddle_mini, in C++.";
  python::define_errors(m);
  python::define_interpreter_end(m);
  python::define_program(m);
  python::define_operators(m);
  python::define_python_operators(m);
  python::define_arrays(m);
  python::define_scope(m);
  python::define_claims(m);
  python::define_executor(m);
  python::define_watches(m);
  python::define_files(m);
  python::define_states(m);
  python::define_frames(m);
  python::define_blocks(m);
  python::define_devices(m);
  python::define_cliques(m);
  python::define_testing(m);
}
