// Operators whose kernels are Python functions: their schemas, and the calls of the functions.
// paddle_mini/own_operators/python.py makes what it is given, and documents the functions that it calls.
#include <atomic>
#include <cstring>
#include <thread>

#include "core/user_code.h"

#include "python_calls.h"

namespace paddle_mini::python {
namespace {

std::atomic<uint64_t> kept{0};

// The functions of an operator. They are never released: schemas, which are never removed, and kernels point to them
// without the GIL.
struct Functions {
  py::object infer, run, gradient;
};

// A function's results that infer computed because the shapes depend on them; the kernel that the same thread runs next
// takes them. Guarded by the GIL, as is the map.
struct Ready {
  const OpDesc* op = nullptr;
  py::dict results;
  Views views;
};
std::map<std::thread::id, std::unique_ptr<Ready>>& ready() {
  static auto& all = *new std::map<std::thread::id, std::unique_ptr<Ready>>;
  return all;
}

py::dict counts_of(const OpDesc& op) {
  py::dict counts;
  for (const Slot& slot : op.outputs) counts[py::str(slot.name)] = slot.arguments.size();
  return counts;
}

py::dict attributes_of(const OpDesc& op) {
  py::dict attrs;
  for (const Attr& attr : op.attrs) attrs[py::str(attr.name)] = attr_to_python(attr.value);
  return attrs;
}

// The function's results: {port: [array]}. value(slot, i): the variable at an input.
template <class F>
py::dict results_of(const Functions& functions, const OpDesc& op, F value, Views& views) {
  const OpSchema& schema = manager().operators().at(op.type);
  py::dict inputs;
  for (size_t s = 0; s < op.inputs.size(); ++s) {
    py::list arrays;
    const std::string& port = op.inputs[s].name;
    for (size_t i = 0; i < op.inputs[s].arguments.size() && !schema.reads_only_shape(port); ++i) {
      const Variable* variable = value(s, i);
      arrays.append(variable ? py::object(views.add(port, *variable)) : py::object(py::none()));
    }
    inputs[py::str(port)] = arrays;
  }
  return functions.run(inputs, attributes_of(op), counts_of(op)).template cast<py::dict>();
}

py::handle result_at(const py::dict& results, const Slot& slot, size_t i) {
  auto list = results[py::str(slot.name)].cast<py::list>();
  return list[i].ptr();
}

py::array array_at(const py::dict& results, const Slot& slot, size_t i, const VarInfo& wanted) {
  py::object given = py::reinterpret_borrow<py::object>(result_at(results, slot, i));
  require<OpError>(!given.is_none(), "the function gives None for ", slot.name);
  require<OpError>(!is_masked(given), "the function gives a masked array for ", slot.name, "; give its filled(value)");
  py::array array = as_array(given, slot.name);
  VarInfo info = VarInfo{VarKind::Tensor, dtype_from_numpy(array.dtype(), slot.name), view_of(array, slot.name).shape};
  require<ShapeError>(info.dtype == wanted.dtype && shapes_agree(info.shape, wanted.shape), "the function gives ",
                      slot.name, " as ", info.str(), "; its declaration says ", wanted.str());
  require_bools(view_of(array, slot.name), slot.name);
  return array;
}

class PythonKernel : public Kernel, public UserCode {
 public:
  PythonKernel(KernelInit& init, const Functions& functions) : functions_(functions), op_(init.op()) {
    for (const Slot& slot : op_.inputs) {
      inputs_.emplace_back();
      for (size_t i = 0; i < slot.arguments.size(); ++i) inputs_.back().push_back(init.input(slot.name.c_str(), i));
    }
    for (const Slot& slot : op_.outputs) {
      outputs_.emplace_back();
      for (size_t i = 0; i < slot.arguments.size(); ++i) outputs_.back().push_back(init.output(slot.name.c_str(), i));
    }
  }

  void run(KernelContext&) override {
    in_python([&] {
      Ready now;
      auto made = ready().find(std::this_thread::get_id());
      if (made != ready().end() && made->second->op == &op_) {
        now = std::move(*made->second);
        ready().erase(made);
      }
      try {
        if (!now.op)
          now.results = results_of(functions_, op_, [&](size_t s, size_t i) { return inputs_[s][i]; }, now.views);
        write(now.results);
      } catch (const py::error_already_set& error) {
        now.results = py::dict();
        // The frames of the call, which has ended, still have its arguments.
        if (error.trace()) py::module_::import("traceback").attr("clear_frames")(error.trace());
        now.views.keep_memory();
        rethrow(error);
      }
      now.results = py::dict();
      now.views.require_none_kept();
    });
  }

 private:
  // Checks all results before it writes one.
  void write(const py::dict& results) const {
    std::vector<std::pair<py::array, Variable*>> checked;
    for (size_t s = 0; s < outputs_.size(); ++s) {
      for (size_t i = 0; i < outputs_[s].size(); ++i) {
        Variable* out = outputs_[s][i];
        if (out) checked.emplace_back(array_at(results, op_.outputs[s], i, out->info()), out);
      }
    }
    for (auto& [array, out] : checked) {
      py::array plain = py::array::ensure(array, py::array::c_style);
      if (out->tensor.bytes()) std::memcpy(out->tensor.data, plain.data(), out->tensor.bytes());
    }
  }

  const Functions& functions_;
  const OpDesc& op_;
  std::vector<std::vector<Variable*>> inputs_, outputs_;
};

// By operator. Entries are added before the schema; the mutex guards the map only.
class AllFunctions {
 public:
  const Functions& add(const std::string& type, Functions functions) {
    std::lock_guard<std::mutex> lock(mutex_);
    return *(functions_[type] = new Functions(std::move(functions)));
  }
  const Functions& at(const std::string& type) {
    std::lock_guard<std::mutex> lock(mutex_);
    return *functions_.at(type);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, const Functions*> functions_;
};
AllFunctions& all_functions() {
  static AllFunctions& all = *new AllFunctions;
  return all;
}

template <class T>
struct PythonKernelFor : PythonKernel {
  explicit PythonKernelFor(KernelInit& init) : PythonKernel(init, all_functions().at(init.op().type)) {}
};

// Sets the outputs to what the infer function says. Where that leaves dimensions open and the values are known, the
// results of the function decide.
void infer(const Functions& functions, InferContext& c) {
  in_python([&] {
    const OpDesc& op = c.op();
    ready().erase(std::this_thread::get_id());
    py::dict inputs;
    for (const Slot& slot : op.inputs) {
      py::list infos;
      for (size_t i = 0; i < slot.arguments.size(); ++i) {
        const VarInfo& info = c.input(slot.name.c_str(), i);
        infos.append(py::make_tuple(py::tuple(py::cast(info.shape.vector())), name_of(info.dtype)));
      }
      inputs[py::str(slot.name)] = infos;
    }
    auto said = functions.infer(inputs, attributes_of(op), counts_of(op)).cast<py::dict>();
    bool known = true;
    for (const Slot& slot : op.outputs) {
      for (size_t i = 0; i < slot.arguments.size(); ++i) {
        auto [dims, dtype] = py::reinterpret_borrow<py::object>(result_at(said, slot, i))
                                 .cast<std::pair<std::vector<int64_t>, std::string>>();
        c.output(slot.name.c_str(), i) = {VarKind::Tensor, dtype_from_name(dtype), Shape(dims)};
        known = known && c.output(slot.name.c_str(), i).shape.known();
      }
    }
    if (known || !c.has_values()) return;
    auto now = std::make_unique<Ready>();
    now->op = &op;
    now->results = results_of(
        functions, op, [&](size_t s, size_t i) { return c.value(op.inputs[s].name.c_str(), i); }, now->views);
    for (const Slot& slot : op.outputs) {
      for (size_t i = 0; i < slot.arguments.size(); ++i) {
        if (slot.arguments[i] == kEmptyName) continue;
        VarInfo& out = c.output(slot.name.c_str(), i);
        out.shape = view_of(array_at(now->results, slot, i, out), slot.name).shape;
      }
    }
    ready()[std::this_thread::get_id()] = std::move(now);
  });
}

std::vector<OpDesc> gradient_of(const Functions& functions, const OpDesc& forward) {
  std::vector<OpDesc> made;
  in_python([&] {
    for (const py::handle& op : functions.gradient(op_to_python(forward)))
      made.push_back(op_from_python(op.cast<py::dict>()));
  });
  return made;
}

std::vector<std::string> strings(const py::dict& item, const char* key) {
  return item[key].cast<std::vector<std::string>>();
}

// Ports and attributes that the dict states: "inputs" and "outputs" are [(name, doc, optional, list)], "attrs" are
// [(name, type, default or None, doc)].
void state_ports(OpSchema& schema, const py::dict& item) {
  using Port = std::tuple<std::string, std::string, bool, bool>;
  for (const auto& [name, doc, optional, list] : item["inputs"].cast<std::vector<Port>>()) {
    if (list)
      optional ? schema.optional_input_list(name.c_str(), doc.c_str()) : schema.input_list(name.c_str(), doc.c_str());
    else optional ? schema.optional_input(name.c_str(), doc.c_str()) : schema.input(name.c_str(), doc.c_str());
  }
  for (const auto& [name, doc, optional, list] : item["outputs"].cast<std::vector<Port>>()) {
    if (list)
      optional ? schema.optional_output_list(name.c_str(), doc.c_str()) : schema.output_list(name.c_str(), doc.c_str());
    else optional ? schema.optional_output(name.c_str(), doc.c_str()) : schema.output(name.c_str(), doc.c_str());
  }
  for (const py::handle& one : item["attrs"]) {
    auto attr = one.cast<py::tuple>();
    std::string name = attr[0].cast<std::string>(), doc = attr[3].cast<std::string>();
    if (attr[2].is_none()) schema.required_attr(name.c_str(), static_cast<AttrType>(attr[1].cast<int>()), doc.c_str());
    else schema.attr(name.c_str(), attr_from_python(one).value, doc.c_str());
  }
}

void state_kernels(OpSchema& schema, const py::dict& item) {
  schema.doc(item["doc"].cast<std::string>()).checks_data();
  schema.kernels<PythonKernelFor, bool, int8_t, uint8_t, int16_t, int32_t, int64_t, Float16, float, double>();
}

OpSchema schema_of(const py::dict& item) {
  auto type = item["type"].cast<std::string>();
  OpSchema schema(type);
  state_ports(schema, item);
  state_kernels(schema, item);
  schema.cpu_only("its kernel is a Python function");
  const Functions& functions = all_functions().at(type);
  schema.infer([&functions](InferContext& c) { infer(functions, c); });
  if (!functions.gradient.is_none())
    schema.gradient([&functions](const OpDesc& forward) { return gradient_of(functions, forward); });
  else if (item["no_gradient"].is_none())
    schema.gradient(type + "_grad", strings(item, "gradient_inputs"), strings(item, "gradient_outputs"));
  else schema.no_gradient(item["no_gradient"].cast<std::string>().c_str());
  return schema;
}

void require_new(const std::string& type) {
  require<ProgramError>(!manager().operators().find(type), "operator '", type, "' exists already");
}

// `gradient`: the facts about the operator of the gradient, or None.
void add_operator(const py::dict& item, const py::object& gradient) {
  auto type = item["type"].cast<std::string>();
  require_new(type);
  if (!gradient.is_none()) require_new(type + "_grad");
  all_functions().add(type, {item["infer"], item["run"], item["gradient_rule"]});
  if (!gradient.is_none()) all_functions().add(type + "_grad", {py::none(), gradient["run"], py::none()});
  manager().add_operators([&](OpTable& operators) {
    operators.add(schema_of(item));
    if (gradient.is_none()) return;
    OpSchema schema = operators.gradient_of(type);
    state_kernels(schema, gradient.cast<py::dict>());
    for (const std::string& port : strings(gradient.cast<py::dict>(), "shape_only")) schema.shape_only(port.c_str());
    operators.add(std::move(schema));
  });
}

}  // namespace

uint64_t times_arrays_were_kept() { return kept; }
void note_kept_arrays() { ++kept; }

void define_python_operators(py::module_& m) {
  m.def("add_python_operator", &add_operator, py::arg("item"), py::arg("gradient"),
        "Adds an operator whose kernel is a Python function, and its gradient, to those of the process, or neither.");
}

}  // namespace paddle_mini::python
