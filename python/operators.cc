// Python interface of operator records: contracts, checks, shapes, gradients.
#include <unordered_map>

#include "core/fill_pattern.h"
#include "core/processor_levels.h"
#include "core/widening.h"
#include "executor/kernel_dtypes.h"
#include "executor/site.h"
#include "executor/structure.h"
#include "module.h"

namespace paddle_mini::python {
namespace {

py::dict port_to_python(const PortSpec& port) {
  return py::dict(py::arg("name") = port.name, py::arg("doc") = port.doc, py::arg("optional") = port.optional,
                  py::arg("list") = port.list);
}

py::dict input_to_python(const OpSpec& spec, const PortSpec& port) {
  py::dict input = port_to_python(port);
  bool shape_only = spec.reads_only_shape(port.name);
  input["shape_only"] = shape_only;
  if (shape_only)
    input["doc"] = port.doc + (port.list ? "; only their shapes are looked at" : "; only its shape is looked at");
  return input;
}

py::dict contract(const std::string& type) {
  const OpSpec& spec = machine().operators().at(type);
  py::list inputs, outputs, attrs, dtypes, widened;
  for (const PortSpec& port : spec.inputs()) inputs.append(input_to_python(spec, port));
  for (const PortSpec& port : spec.outputs()) outputs.append(port_to_python(port));
  for (const AttrSpec& attr : spec.attrs()) {
    attrs.append(py::dict(py::arg("name") = attr.name, py::arg("type") = static_cast<int>(attr.type),
                          py::arg("default") = attr.preset ? attr_to_python(*attr.preset) : py::none(),
                          py::arg("required") = !attr.preset, py::arg("doc") = attr.doc));
  }
  for (DType dtype : spec.kernel_dtypes()) dtypes.append(name_of(dtype));
  for (DType dtype : widened_dtypes(spec)) widened.append(name_of(dtype));
  py::dict result;
  result["type"] = spec.type();
  result["doc"] = spec.doc();
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["attrs"] = attrs;
  result["no_gradient"] = spec.has_gradient() ? py::object(py::none()) : py::object(py::str(spec.no_gradient_reason()));
  result["dtypes"] = dtypes;
  result["widened"] = widened;
  result["updates"] = spec.update_pairs();
  result["in_place"] = spec.in_places();
  result["views"] = spec.views();
  result["takes_rows"] = spec.row_ports();
  result["tiled"] = spec.is_tiled();
  result["decides_lod"] = spec.has_custom_lod();
  result["checks_data"] = spec.may_refuse_data();
  result["on_gpu"] = spec.runs_on_gpu();
  result["cpu_only"] = spec.cpu_only_reason();
  result["has_kernels"] = spec.has_kernels();
  result["dtype_from"] = dtype_port(spec);
  result["control"] = spec.control_function() != nullptr;
  return result;
}

// Checks the operator against its record and infers its outputs: (attrs, {output name: info}).
py::tuple check_op(const py::dict& item, const py::dict& infos) {
  OpDesc op = op_from_python(item);
  const OpSpec* spec = nullptr;
  at_op({op}, [&] {
    spec = &machine().operators().at(op.type);
    spec->complete(op);
    check_operator_names(op);
  });
  std::vector<std::vector<VarInfo>> inputs;
  at_op({op}, [&] {
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
  if (!spec->has_kernels()) return py::make_tuple(attrs_to_python(op.attrs), outputs);  // control: no shapes
  at_op({op, -1, 0, &inputs}, [&] {
    InferContext context(op, inputs);
    spec->run_infer(context);
    check_kernel_dtype(*spec, op, inputs, context.outputs());
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
  const OpSpec& spec = machine().operators().at(op.type);
  at_op({op}, [&] { spec.complete(op); });
  for (const OpDesc& made : spec.make_gradient(op)) result.append(op_to_python(made));
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
  m.def("op_types", [] { return machine().operators().types(); });
  m.def("contract", &contract);
  m.def("check_op", &check_op);
  m.def("gradient", &gradient);
  m.def("set_fill_pattern", &set_fill_pattern);  // fill byte of unwritten memory, or -1
  m.def("fresh_memory", [](size_t bytes) { return py::bytes(static_cast<const char*>(allocate(bytes).get()), bytes); });
  m.def("kernel_library", [] {
    const KernelLibrary& library = machine().kernels();
    return py::dict(py::arg("level") = library.level, py::arg("path") = library.path,
                    py::arg("reason") = library.reason);
  });
  m.def("processor_levels", &processor_levels);
}

}  // namespace paddle_mini::python
