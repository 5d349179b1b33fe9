// Python interface of states: pickled values and safetensors as Python objects.
#include "program/pickle.h"
#include "program/safetensors.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

using Kind = PickledValue::Kind;

py::array array_to_python(const StateArray& array) {
  return py::array(py::dtype(array.type), array.shape, array.elements.data());  // a copy
}

py::str text_to_python(const std::string& utf8, const char* errors) {
  PyObject* decoded = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), errors);
  if (!decoded) PyErr_Clear();
  require<ProgramError>(decoded, "it is damaged: a text is not UTF-8");
  return py::reinterpret_steal<py::str>(decoded);
}

py::object to_python(const PickledValue& value);

py::list items_to_python(const PickledValue& value) {
  py::list items;
  for (const Pickled& item : value.items) items.append(to_python(*item));
  return items;
}

py::dict dict_to_python(const PickledValue& value) {
  py::dict dict;
  for (size_t i = 0; i < value.items.size(); i += 2) dict[to_python(*value.items[i])] = to_python(*value.items[i + 1]);
  return dict;
}

py::object to_python(const PickledValue& value) {
  switch (value.kind) {
    case Kind::None: return py::none();
    case Kind::Bool: return py::bool_(value.integer != 0);
    case Kind::Integer: return py::int_(value.integer);
    case Kind::Real: return py::float_(value.real);
    case Kind::Text: return text_to_python(utf8_of(value), "surrogatepass");
    case Kind::Bytes: return py::bytes(value.view.data(), value.view.size());
    case Kind::Array: return array_to_python(value.array);
    case Kind::Scalar: return array_to_python(value.array).attr("__getitem__")(py::tuple());
    case Kind::List: return items_to_python(value);
    case Kind::Tuple: return py::tuple(items_to_python(value));
    case Kind::Dict: return dict_to_python(value);
    default: fail<ProgramError>("it holds something that is neither an array nor a number, a string, a list or a dict");
  }
}

}  // namespace

void define_states(py::module_& m) {
  m.def(
      "read_pickle", [](const py::bytes& file) { return dict_to_python(*read_pickle(view_of_bytes(file))); },
      "The dict that the bytes of a pickled file hold.");
  m.def(
      "read_state",
      [](const py::bytes& file, bool variable_names) {
        Pickled state = read_pickle(view_of_bytes(file));
        join_state(*state, variable_names);
        return dict_to_python(*state);
      },
      "The same of a PaddlePaddle state, with slices joined and without its table of names.");
  m.def(
      "read_safetensors",
      [](const py::bytes& file) {
        py::dict arrays;
        for (const auto& [name, array] : read_safetensors(view_of_bytes(file)))
          arrays[text_to_python(name, "strict")] = array_to_python(array);
        return arrays;
      },
      "The arrays of a safetensors file by name.");
  m.def(
      "pickle_is_checked", [](const py::bytes& file) { return pickle_is_checked(view_of_bytes(file)); },
      "Whether the file has a checksum, which is correct.");
  m.def(
      "safetensors_is_checked", [](const py::bytes& file) { return safetensors_is_checked(view_of_bytes(file)); },
      "Whether the file has a checksum, which is correct.");
}

}  // namespace paddle_mini::python
