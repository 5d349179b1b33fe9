// Parameter files from Python.
#include "program/tensor_file.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

// Reads everything before the scope is touched.
void load_parameters(Scope& scope, const std::string& path, const py::bytes& program, const std::vector<std::string>& names) {
  ProgramDesc desc = decode_program(static_cast<std::string>(program));
  auto tensors = from_file(path, [&](const std::string& bytes) { return read_parameters(bytes, desc, names); });
  scope.require_idle();
  Settled settled(scope);
  for (const auto& [name, tensor] : tensors) scope.set(name, tensor);
}

}  // namespace

void define_files(py::module_& m) {
  m.def("parameter_file_order", [](const py::bytes& program) {
    return parameter_file_order(decode_program(static_cast<std::string>(program)));
  });
  m.def("save_parameters", [](Scope& scope, const std::string& path, const std::vector<std::string>& names) {
    Settled settled(scope);
    write_file(path, parameter_bytes(scope, names));
  });
  m.def("load_parameters", &load_parameters);
  m.def("read_file", [](const std::string& path) { return py::bytes(read_file(path)); });
  m.def("write_file", [](const std::string& path, const py::bytes& bytes) { write_file(path, static_cast<std::string>(bytes)); });
  m.def("read_tensor", [](const py::bytes& bytes) {
    std::string text = bytes;
    size_t position = 0;
    Tensor tensor = read_tensor(text, position);
    return py::make_tuple(copy_to_numpy(tensor), tensor.lod, position);
  }, "(array, lod, bytes used) of the tensor that the bytes begin with.");
  m.def("tensor_bytes", [](const py::array& array, const Lod& lod) {
    py::array contiguous = py::array::ensure(array, py::array::c_style);
    Tensor tensor = view_of(contiguous, "array");
    tensor.lod = lod;
    std::string bytes;
    append_tensor(tensor, bytes);
    return py::bytes(bytes);
  });
}

}  // namespace paddle_mini::python
