// Python interface of states: pickled values and safetensors as Python objects.
#include <set>

#include "program/pickle.h"
#include "program/safetensors.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

using Kind = PickledValue::Kind;

// Arrays of at least this size stay in the memory of the file, if they are aligned there.
constexpr size_t kLeastShared = size_t{1} << 16;

// Makes Python's objects.
class ToPython {
 public:
  explicit ToPython(const FileArray& file) : file_(file) {}

  py::object operator()(const PickledValue& value) const;
  py::array array(const StateArray& array) const {
    py::dtype type(array.type);
    const char* data = array.elements.data();
    const bool aligned = reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(type.alignment()) == 0;
    const bool large = file_.is_writable() && !array.kept && aligned && array.elements.size() >= kLeastShared;
    const bool stays = large && viewed_.insert(data).second;  // an array with two names becomes two
    return stays ? file_.view(type, array.shape, data) : py::array(type, array.shape, data);
  }
  py::dict dict(const PickledValue& value) const;

 private:
  py::list items(const PickledValue& value) const;

  const FileArray& file_;
  mutable std::set<const char*> viewed_;
};

py::str text_to_python(const std::string& utf8, const char* errors) {
  PyObject* decoded = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), errors);
  if (!decoded) PyErr_Clear();
  require<ProgramError>(decoded, "it is damaged: a text is not UTF-8");
  return py::reinterpret_steal<py::str>(decoded);
}

py::list ToPython::items(const PickledValue& value) const {
  py::list items;
  for (const Pickled& item : value.items) items.append((*this)(*item));
  return items;
}

py::dict ToPython::dict(const PickledValue& value) const {
  py::dict dict;
  for (size_t i = 0; i < value.items.size(); i += 2) dict[(*this)(*value.items[i])] = (*this)(*value.items[i + 1]);
  return dict;
}

py::object ToPython::operator()(const PickledValue& value) const {
  switch (value.kind) {
    case Kind::None: return py::none();
    case Kind::Bool: return py::bool_(value.integer != 0);
    case Kind::Integer: return py::int_(value.integer);
    case Kind::Real: return py::float_(value.real);
    case Kind::Text: return text_to_python(utf8_of(value), "surrogatepass");
    case Kind::Bytes: return py::bytes(value.view.data(), value.view.size());
    case Kind::Array: return array(value.array);
    case Kind::Scalar: return array(value.array).attr("__getitem__")(py::tuple());
    case Kind::List: return items(value);
    case Kind::Tuple: return py::tuple(items(value));
    case Kind::Dict: return dict(value);
    default: fail<ProgramError>("it holds something that is neither an array nor a number, a string, a list or a dict");
  }
}

}  // namespace

void define_states(py::module_& m) {
  m.def(
      "read_pickle",
      [](const py::object& bytes) {
        const FileArray file(bytes);
        return ToPython(file).dict(*read_pickle(file));
      },
      "The dict that a pickled file holds. Large arrays stay in an array of its bytes.");
  m.def(
      "read_state",
      [](const py::object& bytes, bool variable_names) {
        const FileArray file(bytes);
        Pickled state = read_pickle(file);
        join_state(*state, variable_names);
        return ToPython(file).dict(*state);
      },
      "The same of a PaddlePaddle state, with slices joined and without its table of names.");
  m.def(
      "read_safetensors",
      [](const py::object& bytes) {
        const FileArray file(bytes);
        py::dict arrays;
        for (const auto& [name, array] : read_safetensors(file))
          arrays[text_to_python(name, "strict")] = ToPython(file).array(array);
        return arrays;
      },
      "The arrays of a safetensors file by name. Large ones stay in an array of its bytes.");
  m.def(
      "pickle_is_checked", [](const py::object& file) { return pickle_is_checked(FileArray(file)); },
      "Whether the file has a checksum, which is correct.");
  m.def(
      "safetensors_is_checked", [](const py::object& file) { return safetensors_is_checked(FileArray(file)); },
      "Whether the file has a checksum, which is correct.");
}

}  // namespace paddle_mini::python
