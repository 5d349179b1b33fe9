// For tests: builds records from lists of calls, changes one fact of an operator's record, and sets memory limits.
#include <algorithm>
#include <functional>
#include <map>

#include "core/memory_limit.h"
#include "module.h"

namespace paddle_mini {

namespace py = pybind11;

struct RecordAccess {
  using Names = std::vector<std::string>;

  template <class T>
  static py::object exchange_value(T& fact, const py::object& value) {
    py::object before = py::cast(fact);
    fact = value.cast<T>();
    return before;
  }

  // Sets `mark` on exactly the named ports; returns the names that had it.
  static py::object exchange_marks(std::vector<PortSpec>& ports, bool PortSpec::* mark, const py::object& value) {
    Names before, now = value.cast<Names>();
    for (PortSpec& port : ports) {
      if (port.*mark) before.push_back(port.name);
      port.*mark = std::find(now.begin(), now.end(), port.name) != now.end();
    }
    return py::cast(before);
  }

  static py::object exchange_dtype_port(OpSpec& spec, const py::object& value) {
    std::pair<std::string, bool> fact(spec.dtype_port_, spec.dtype_port_is_output_);
    py::object before = exchange_value(fact, value);
    std::tie(spec.dtype_port_, spec.dtype_port_is_output_) = fact;
    return before;
  }

  static py::object exchange_control(OpSpec& spec, const py::object& value) {
    auto address = reinterpret_cast<uintptr_t>(spec.control_);
    py::object before = exchange_value(address, value);
    spec.control_ = reinterpret_cast<ControlFunction>(address);
    return before;
  }

  static py::object exchange(OpSpec& spec, const std::string& fact, const py::object& value) {
    if (fact == "in_place") return exchange_value(spec.in_places_, value);
    if (fact == "views") return exchange_value(spec.views_, value);
    if (fact == "updates") return exchange_value(spec.updates_, value);
    if (fact == "takes_rows") return exchange_value(spec.row_ports_, value);
    if (fact == "inputs.shape_only") return exchange_value(spec.shape_ports_, value);
    if (fact == "tiled") return exchange_value(spec.is_tiled_, value);
    if (fact == "checks_data") return exchange_value(spec.checks_data_, value);
    if (fact == "decides_lod") return exchange_value(spec.decides_lod_, value);
    if (fact == "on_gpu") return exchange_value(spec.on_gpu_, value);
    if (fact == "cpu_only") return exchange_value(spec.cpu_only_reason_, value);
    if (fact == "no_gradient") return exchange_value(spec.no_gradient_reason_, value);
    if (fact == "dtype_from") return exchange_dtype_port(spec, value);
    if (fact == "control") return exchange_control(spec, value);
    if (fact == "inputs.optional") return exchange_marks(spec.inputs_, &PortSpec::optional, value);
    if (fact == "outputs.optional") return exchange_marks(spec.outputs_, &PortSpec::optional, value);
    if (fact == "inputs.list") return exchange_marks(spec.inputs_, &PortSpec::list, value);
    if (fact == "outputs.list") return exchange_marks(spec.outputs_, &PortSpec::list, value);
    fail<ProgramError>("a record has no '", printable(fact), "'");
  }

  static py::object dtype_port(const OpSpec& spec) {
    if (spec.dtype_port_.empty()) return py::none();
    return py::make_tuple(spec.dtype_port_, spec.dtype_port_is_output_);
  }
};

namespace python {
namespace {

struct NoKernel : Kernel {
  explicit NoKernel(KernelInit&) {}
  void run(Device&) override {}
};

using Words = std::vector<std::string>;

// ("input", ["X", "any shape"]) is .input("X", "any shape"). In the words of gradient, the first one is the type, and
// those that begin with "->" are outputs.
void make_call(OpSpec& spec, const std::string& call, const Words& w) {
  auto word = [&](size_t i) { return w.at(i).c_str(); };
  const std::map<std::string, std::function<void()>> calls = {
      {"doc", [&] { spec.doc(word(0)); }},
      {"input", [&] { spec.input(word(0), word(1)); }},
      {"shape_input", [&] { spec.shape_input(word(0), word(1)); }},
      {"optional_input", [&] { spec.optional_input(word(0), word(1)); }},
      {"output", [&] { spec.output(word(0), word(1)); }},
      {"attr", [&] { spec.attr(word(0), 1.0f, word(1)); }},
      {"infer", [&] { spec.infer([](InferContext&) {}); }},
      {"kernel", [&] { spec.kernel_for_any<NoKernel>(); }},
      {"no_gradient", [&] { spec.no_gradient(word(0)); }},
      {"dtype_from_input", [&] { spec.dtype_from_input(word(0)); }},
      {"dtype_from_output", [&] { spec.dtype_from_output(word(0)); }},
      {"in_place", [&] { spec.in_place(word(0), word(1)); }},
      {"view", [&] { spec.view(word(0), word(1)); }},
      {"updates", [&] { spec.updates(word(0), word(1)); }},
      {"reads_shape", [&] { spec.reads_shape(word(0)); }},
      {"takes_rows", [&] { spec.takes_rows(word(0)); }},
      {"checks_data", [&] { spec.checks_data(); }},
      {"on_gpu", [&] { spec.on_gpu(); }},
      {"cpu_only", [&] { spec.cpu_only(word(0)); }},
      {"gradient",
       [&] {
         Words inputs, outputs;
         for (size_t i = 1; i < w.size(); ++i)
           w[i].rfind("->", 0) == 0 ? outputs.push_back(w[i].substr(2)) : inputs.push_back(w[i]);
         spec.gradient(w.at(0), inputs, outputs);
       }},
  };
  calls.at(call)();
}

// Adds a record to the available operators, as a kernel library does. Throws ProgramError if it is invalid. Returns the
// inputs of which only the shape is read.
Words try_record(const std::string& type, const std::vector<std::pair<std::string, Words>>& calls) {
  OpSpec spec(type);
  for (const auto& [call, words] : calls) make_call(spec, call, words);
  OpTable operators = machine().operators();
  operators.add(spec);
  operators.check_gradients();
  Words shape_only;
  for (const PortSpec& port : spec.inputs())
    if (spec.reads_only_shape(port.name)) shape_only.push_back(port.name);
  return shape_only;
}

// The ports and attributes of the record that gradient_of begins for a record made of `forward`, and `gradient` completes.
Words try_gradient_record(const std::vector<std::pair<std::string, Words>>& forward,
                          const std::vector<std::pair<std::string, Words>>& gradient) {
  OpSpec spec("mended");
  for (const auto& [call, words] : forward) make_call(spec, call, words);
  OpTable operators = machine().operators();
  operators.add(spec);
  OpSpec derived = operators.gradient_of("mended");
  for (const auto& [call, words] : gradient) make_call(derived, call, words);
  operators.add(derived);
  operators.check_gradients();
  Words result{derived.runs_on_gpu() ? "on_gpu" : derived.cpu_only_reason()};
  for (const std::vector<PortSpec>* ports : {&derived.inputs(), &derived.outputs()})
    for (const PortSpec& port : *ports)
      result.push_back(port.name + (port.optional ? " (optional): " : ": ") + port.doc);
  for (const AttrSpec& attr : derived.attrs()) result.push_back(attr.name + ": " + attr.doc);
  return result;
}

// Replaces one fact of a record, which applies to programs built from now on. Returns the previous value.
py::object alter_record(const std::string& type, const std::string& fact, const py::object& value) {
  OpSpec changed = machine().operators().at(type);
  py::object before = RecordAccess::exchange(changed, fact, value);
  OpTable().add(changed);  // throws if the record is invalid
  const_cast<OpSpec&>(machine().operators().at(type)) = changed;
  return before;
}

}  // namespace

py::object dtype_port(const OpSpec& spec) { return RecordAccess::dtype_port(spec); }

void define_testing(py::module_& m) {
  m.def("container_memory_limit", &container_memory_limit, py::arg("root") = "");
  m.def("memory_limit", &memory_limit);
  m.def("memory_in_use", &memory_in_use);
  m.def("try_record", &try_record, py::arg("type"), py::arg("calls"));
  m.def("try_gradient_record", &try_gradient_record, py::arg("forward"), py::arg("gradient"));
  m.def("alter_record", &alter_record, py::arg("type"), py::arg("fact"), py::arg("value"));
}

}  // namespace python
}  // namespace paddle_mini
