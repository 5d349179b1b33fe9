// Python interface of operator schemas: declarations, checks, shapes, gradients.
#include <unordered_map>

#include "core/cpu_levels.h"
#include "core/fill_pattern.h"
#include "core/widening.h"
#include "executor/kernel_dtypes.h"
#include "executor/op_context.h"
#include "executor/structure.h"
#include "module.h"

namespace paddle_mini::python {
namespace {

py::dict port_to_python(const PortSchema& port) {
  return py::dict(py::arg("name") = port.name, py::arg("doc") = port.doc, py::arg("optional") = port.optional,
                  py::arg("list") = port.list);
}

py::dict input_to_python(const OpSchema& schema, const PortSchema& port) {
  py::dict input = port_to_python(port);
  bool shape_only = schema.reads_only_shape(port.name);
  input["shape_only"] = shape_only;
  if (shape_only) input["doc"] = port.doc + (port.list ? "; only their shapes are read" : "; only its shape is read");
  return input;
}

py::dict op_schema(const std::string& type) {
  const OpSchema& schema = manager().operators().at(type);
  py::list inputs, outputs, attrs, dtypes, widened;
  for (const PortSchema& port : schema.inputs()) inputs.append(input_to_python(schema, port));
  for (const PortSchema& port : schema.outputs()) outputs.append(port_to_python(port));
  for (const AttrSchema& attr : schema.attrs()) {
    attrs.append(py::dict(py::arg("name") = attr.name, py::arg("type") = static_cast<int>(attr.type),
                          py::arg("default") = attr.default_value ? attr_to_python(*attr.default_value) : py::none(),
                          py::arg("required") = !attr.default_value, py::arg("doc") = attr.doc));
  }
  for (DType dtype : schema.kernel_dtypes()) dtypes.append(name_of(dtype));
  for (DType dtype : widened_dtypes(schema)) widened.append(name_of(dtype));
  py::dict result;
  result["type"] = schema.type();
  result["doc"] = schema.doc();
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["attrs"] = attrs;
  result["no_gradient"] =
      schema.has_gradient() ? py::object(py::none()) : py::object(py::str(schema.no_gradient_reason()));
  result["dtypes"] = dtypes;
  result["widened"] = widened;
  result["updates"] = schema.update_pairs();
  result["in_place"] = schema.in_places();
  result["views"] = schema.views();
  result["accepts_selected_rows"] = schema.row_ports();
  result["tiled"] = schema.is_tiled();
  result["elementwise"] = schema.is_elementwise();
  result["stores_parts"] = schema.output_in_parts();
  result["splits_batch"] = schema.batch_ports();
  result["custom_lod"] = schema.has_custom_lod();
  result["checks_data"] = schema.may_fail_validation();
  result["checked_port"] = schema.checked_port();
  result["on_gpu"] = schema.runs_on_gpu();
  result["cpu_only"] = schema.cpu_only_reason();
  result["has_kernels"] = schema.has_kernels();
  result["dtype_from"] = dtype_port(schema);
  result["control"] = schema.control_function() != nullptr;
  return result;
}

// Checks the operator against its schema and infers its outputs: (attrs, {output name: info}).
py::tuple check_op(const py::dict& item, const py::dict& infos) {
  OpDesc op = op_from_python(item);
  const OpSchema* schema = nullptr;
  with_op_context({op}, [&] {
    schema = &manager().operators().at(op.type);
    schema->complete(op);
    check_operator_names(op);
  });
  std::vector<std::vector<VarInfo>> inputs;
  with_op_context({op}, [&] {
    for (const Slot& slot : op.inputs) {
      inputs.emplace_back();
      for (const std::string& name : slot.arguments) {
        require<ProgramError>(name == kEmptyName || infos.contains(py::str(name)), "input ", slot.name, " names '",
                              printable(name), "', which is not declared");
        inputs.back().push_back(name == kEmptyName ? VarInfo{} : info_from_python(infos[py::str(name)]));
      }
    }
  });
  py::dict outputs;
  if (!schema->has_kernels()) return py::make_tuple(attrs_to_python(op.attrs), outputs);  // control: no shapes
  with_op_context({op, -1, 0, &inputs}, [&] {
    InferContext context(op, inputs);
    schema->run_infer(context);
    check_kernel_dtype(*schema, op, inputs, context.outputs());
    for (size_t s = 0; s < op.outputs.size(); ++s) {
      for (size_t i = 0; i < op.outputs[s].arguments.size(); ++i) {
        outputs[py::str(op.outputs[s].arguments[i])] = info_to_python(context.outputs()[s][i]);
      }
    }
  });
  return py::make_tuple(attrs_to_python(op.attrs), outputs);
}

py::list gradient(const py::dict& item) {
  OpDesc op = op_from_python(item);
  py::list result;
  const OpSchema& schema = manager().operators().at(op.type);
  with_op_context({op}, [&] { schema.complete(op); });
  for (const OpDesc& made : schema.make_gradient(op)) result.append(op_to_python(made));
  return result;
}

}  // namespace

VarInfo info_from_python(const py::dict& info) {
  VarInfo result;
  result.kind = static_cast<VarKind>(info["kind"].cast<int>());
  result.dtype = dtype_from_name(info["dtype"].cast<std::string>());
  result.shape = Shape(info["shape"].cast<std::vector<int64_t>>());
  result.lod_level = info["lod_level"].cast<int>();
  if (info.contains("row_count")) result.row_count = info["row_count"].cast<int64_t>();
  return result;
}

py::dict info_to_python(const VarInfo& info) {
  py::dict result;
  result["kind"] = static_cast<int>(info.kind);
  result["dtype"] = name_of(info.dtype);
  result["shape"] = info.shape.vector();
  result["lod_level"] = info.lod_level;
  if (info.kind == VarKind::SelectedRows) result["row_count"] = info.row_count;
  return result;
}

void define_operators(py::module_& m) {
  m.def("op_types", [] { return manager().operators().types(); });
  m.def("op_schema", &op_schema);
  // Adds the operators of a shared library, among them one called `type`, to those of the process, or none; gpu_path: the
  // library with their kernels for GPUs, or "".
  m.def(
      "load_operators",
      [](const FileName& path, const std::string& type, const FileName& gpu_path) {
        manager().load_operators(path, type, gpu_path);
      },
      py::arg("path"), py::arg("type"), py::arg("gpu_path"), py::call_guard<WithoutGil>());
  m.def("check_op", &check_op);
  m.def("gradient", &gradient);
  m.def("set_fill_pattern", &set_fill_pattern);  // fill byte of unwritten memory, or -1
  m.def("fresh_memory", [](size_t bytes) { return py::bytes(static_cast<const char*>(allocate(bytes).get()), bytes); });
  m.def("kernel_library", [] {
    const KernelLibrary& library = manager().kernels();
    return py::dict(py::arg("level") = library.level, py::arg("compiled_for") = compiled_level(library.level),
                    py::arg("path") = library.path, py::arg("reason") = library.reason);
  });
  m.def("cpu_levels", &cpu_levels);
}

}  // namespace paddle_mini::python
