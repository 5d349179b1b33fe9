// Converts programs between Python data, C++ structs and bytes.
#include "executor/structure.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

std::vector<Slot> slots_from_python(const py::handle& slots) {
  std::vector<Slot> result;
  for (const py::handle& item : slots) {
    auto pair = item.cast<std::pair<std::string, std::vector<std::string>>>();
    result.push_back({std::move(pair.first), std::move(pair.second)});
  }
  return result;
}

py::list slots_to_python(const std::vector<Slot>& slots) {
  py::list result;
  for (const Slot& slot : slots) result.append(py::make_tuple(slot.name, slot.arguments));
  return result;
}

ScalarValue scalar_from_python(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return value.cast<int64_t>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  return value.cast<std::complex<double>>();
}

// Converts elements; block indices and variable names are plain ints and strings in Python.
template <class T>
T element_from_python(const py::handle& value) {
  if constexpr (std::is_same_v<T, BlockIndex>) return {value.cast<int32_t>()};
  else if constexpr (std::is_same_v<T, VarName>) return {value.cast<std::string>()};
  else if constexpr (std::is_same_v<T, ScalarValue>) return scalar_from_python(value);
  else return value.cast<T>();
}

// Attribute values of a file may contain bytes that are not UTF-8; they round-trip unchanged.
py::object text_to_python(const std::string& text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  return py::reinterpret_steal<py::object>(decoded);
}

template <class T>
py::object element_to_python(const T& value) {
  if constexpr (std::is_same_v<T, BlockIndex>) return py::int_(value.index);
  else if constexpr (std::is_same_v<T, VarName>) return py::str(value.name);
  else if constexpr (std::is_same_v<T, std::string>) return text_to_python(value);
  else if constexpr (std::is_same_v<T, ScalarValue>)
    return std::visit([](const auto& v) { return py::object(py::cast(v)); }, value);
  else return py::cast(value);
}

template <class V>
struct ListElement {
  using type = void;
};
template <class E>
struct ListElement<std::vector<E>> {
  using type = E;
};

template <size_t I = 0>
AttrValue attr_of_type(size_t type, const py::handle& value) {
  if constexpr (I == std::variant_size_v<AttrValue>) {
    fail<ProgramError>("attribute type number ", type, " is not known");
  } else {
    if (type != I) return attr_of_type<I + 1>(type, value);
    using V = std::variant_alternative_t<I, AttrValue>;
    using E = typename ListElement<V>::type;
    if constexpr (std::is_void_v<E>) {
      return AttrValue(std::in_place_index<I>, element_from_python<V>(value));
    } else {
      V list;
      for (const py::handle& item : value) list.push_back(element_from_python<E>(item));
      return AttrValue(std::in_place_index<I>, std::move(list));
    }
  }
}

}  // namespace

Attr attr_from_python(const py::handle& item) {
  auto attr = item.cast<py::tuple>();
  std::string name = attr[0].cast<std::string>();
  auto type = static_cast<AttrType>(attr[1].cast<int>());
  try {
    return {name, attr_of_type(static_cast<size_t>(type), attr[2])};
  } catch (const py::cast_error&) {
    fail<ProgramError>("attribute '", printable(name), "' is ", name_of(type), "; ",
                       py::repr(attr[2]).cast<std::string>(), " is not a valid value");
  }
}

namespace {

VarDesc var_from_python(const py::dict& item) {
  VarDesc var;
  var.name = item["name"].cast<std::string>();
  var.kind = item["kind"].cast<int32_t>();
  py::object dtype = item["dtype"];
  bool named = py::isinstance<py::str>(dtype);
  var.dtype = named ? static_cast<int32_t>(dtype_from_name(dtype.cast<std::string>())) : dtype.cast<int32_t>();
  var.dims = item["shape"].cast<std::vector<int64_t>>();
  var.lod_level = item["lod_level"].cast<int32_t>();
  auto kind = static_cast<VarKind>(var.kind);
  bool described = !item.contains("has_tensor") || item["has_tensor"].cast<bool>();  // arrays in files may lack it
  var.has_tensor = holds_tensor(kind) || (kind == VarKind::TensorArray && described);
  var.persistable = item["persistable"].cast<bool>();
  var.need_check_feed = item["need_check_feed"].cast<bool>();
  var.is_parameter = item["is_parameter"].cast<std::optional<bool>>();
  var.stop_gradient = item["stop_gradient"].cast<std::optional<bool>>();
  if (item.contains("unknown")) var.unknown = item["unknown"].cast<std::string>();
  return var;
}

py::dict var_to_python(const VarDesc& var) {
  py::dict item;
  item["name"] = element_to_python(var.name);
  item["kind"] = var.kind;
  item["dtype"] = is_dtype(var.dtype) ? py::object(py::str(name_of(static_cast<DType>(var.dtype))))
                                      : py::object(py::int_(var.dtype));
  item["shape"] = var.dims;
  item["lod_level"] = var.lod_level;
  item["has_tensor"] = var.has_tensor;
  item["persistable"] = var.persistable;
  item["need_check_feed"] = var.need_check_feed;
  item["is_parameter"] = var.is_parameter;
  item["stop_gradient"] = var.stop_gradient;
  item["unknown"] = py::bytes(var.unknown);
  return item;
}

ProgramDesc program_from_python(const py::dict& item) {
  ProgramDesc program;
  program.version = item["version"].cast<std::optional<int64_t>>();
  program.op_versions = item["op_versions"].cast<std::vector<std::pair<std::string, int32_t>>>();
  if (item.contains("provenance")) program.provenance = item["provenance"].cast<std::string>();
  program.unknown = item["unknown"].cast<std::string>();
  for (const py::handle& block_item : item["blocks"]) {
    auto source = block_item.cast<py::dict>();
    BlockDesc block;
    block.idx = source["idx"].cast<int32_t>();
    block.parent_idx = source["parent_idx"].cast<int32_t>();
    block.forward_block_idx = source["forward_block_idx"].cast<int32_t>();
    block.unknown = source["unknown"].cast<std::string>();
    for (const py::handle& var : source["vars"]) block.vars.push_back(var_from_python(var.cast<py::dict>()));
    for (const py::handle& op : source["ops"]) block.ops.push_back(op_from_python(op.cast<py::dict>()));
    program.blocks.push_back(std::move(block));
  }
  return program;
}

py::dict program_to_python(const ProgramDesc& program) {
  py::dict result;
  result["version"] = program.version;
  result["op_versions"] = program.op_versions;
  if (!program.provenance.empty()) result["provenance"] = text_to_python(program.provenance);
  result["unknown"] = py::bytes(program.unknown);
  py::list blocks;
  for (const BlockDesc& block : program.blocks) {
    py::list vars, ops;
    for (const VarDesc& var : block.vars) vars.append(var_to_python(var));
    for (const OpDesc& op : block.ops) ops.append(op_to_python(op));
    blocks.append(py::dict(py::arg("idx") = block.idx, py::arg("parent_idx") = block.parent_idx,
                           py::arg("forward_block_idx") = block.forward_block_idx, py::arg("vars") = vars,
                           py::arg("ops") = ops, py::arg("unknown") = py::bytes(block.unknown)));
  }
  result["blocks"] = blocks;
  return result;
}

}  // namespace

OpDesc op_from_python(const py::dict& item) {
  OpDesc op;
  op.type = item["type"].cast<std::string>();
  op.inputs = slots_from_python(item["inputs"]);
  op.outputs = slots_from_python(item["outputs"]);
  for (const py::handle& attr : item["attrs"]) op.attrs.push_back(attr_from_python(attr));
  if (item.contains("is_target")) op.is_target = item["is_target"].cast<bool>();
  if (item.contains("unknown")) op.unknown = item["unknown"].cast<std::string>();
  return op;
}

py::object attr_to_python(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> py::object {
        using V = std::decay_t<decltype(v)>;
        using E = typename ListElement<V>::type;
        if constexpr (std::is_void_v<E>) {
          return element_to_python(v);
        } else {
          py::list list;
          for (size_t i = 0; i < v.size(); ++i) list.append(element_to_python(static_cast<const E&>(v[i])));
          return std::move(list);
        }
      },
      value);
}

py::list attrs_to_python(const std::vector<Attr>& attrs) {
  py::list list;
  for (const Attr& attr : attrs) {
    list.append(py::make_tuple(attr.name, static_cast<int>(type_of(attr.value)), attr_to_python(attr.value)));
  }
  return list;
}

py::dict op_to_python(const OpDesc& op) {
  py::dict item;
  item["type"] = element_to_python(op.type);
  item["inputs"] = slots_to_python(op.inputs);
  item["outputs"] = slots_to_python(op.outputs);
  item["attrs"] = attrs_to_python(op.attrs);
  item["is_target"] = op.is_target;
  item["unknown"] = py::bytes(op.unknown);
  return item;
}

void define_program(py::module_& m) {
  m.def("encode_program",
        [](const py::dict& program) { return py::bytes(encode_program(program_from_python(program))); });
  m.def("decode_program", [](const py::bytes& bytes) {
    return program_to_python(read_program(static_cast<std::string>(bytes), manager().operators()));
  });
  m.def("generic_attributes", [] {
    py::dict types;
    for (const auto& [name, type] : generic_attributes()) types[name.c_str()] = static_cast<int>(type);
    return types;
  });
  m.def(
      "check_variable_name",
      [](const py::object& name) {
        require<ProgramError>(py::isinstance<py::str>(name), "variable name is of type ", Py_TYPE(name.ptr())->tp_name,
                              ", it must be text");
        check_variable_name(name.cast<std::string>());
      },
      py::arg("name"), "ProgramError for a name that no program may have.");
  m.def("type_name", &type_name, py::arg("number"));
}

}  // namespace paddle_mini::python
